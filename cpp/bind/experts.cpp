// Python bindings of expert_terms, mix_experts and the kernel density.
#include <optional>

#include "bind/buffers.hpp"
#include "bind/coefficients.hpp"

namespace tally {

std::vector<std::int64_t> offsets_of(nb::handle sizes, std::int64_t n_columns);  // bind/counts.cpp

namespace {

using std::int64_t;

const double* numbers_of(const Buffer& buffer, int64_t length) {
    buffer.need_axes(1);
    buffer.need_length(length);
    return buffer.all<const double>(Type::f64, "float64");
}

// Write the terms of both experts to out (6 K, C), and to `lost` where leaving a row out cancels too many digits.
void expert_terms(nb::handle value, nb::handle counts, nb::handle sizes, nb::handle nodes, nb::handle n_nodes,
                  nb::handle alphas, nb::handle omegas, bool chosen, nb::handle moments, nb::handle whole,
                  nb::handle full, nb::handle less, double floor, nb::handle out, nb::handle lost) {
    const auto F = static_cast<int64_t>(nb::len(sizes)), L = static_cast<int64_t>(nb::len(n_nodes));
    const auto offsets = offsets_of(sizes, F), ends = offsets_of(n_nodes, L);
    const int64_t K = offsets.back();
    const Matrix by_class(counts, "counts", K, -1);
    const int64_t C = by_class.size(1);
    const Buffer values(value, "value"), levels(nodes, "nodes"), smoothings(alphas, "alphas"), marks(lost, "lost", true);
    const double* at = numbers_of(values, K);
    levels.need_axes(2);
    if (levels.size(0) != L || levels.size(1) != K) refuse("nodes", "a row per level and a column per cell", "another");
    const auto* node = levels.all<const std::int32_t>(Type::i32, "int32");
    std::vector<int64_t> many;
    for (int64_t level = 0; level < L; ++level) {
        many.push_back(ends[level + 1] - ends[level]);
        if (many.back() % 2 != 0) refuse("n_nodes", "even numbers", std::to_string(many.back()));
        for (int64_t k = 0; k < K; ++k)
            if (node[level * K + k] < -1 || node[level * K + k] >= many.back())
                refuse("nodes", "numbers from -1 to n_nodes - 1", std::to_string(node[level * K + k]));
    }
    smoothings.need_axes(1);
    const int64_t A = smoothings.size(0);
    const double* alpha = numbers_of(smoothings, A);
    const Matrix chances(omegas, "omegas", L * A, F, true), m(moments, "moments", 3 * F, C), w(whole, "whole", 3, F);
    const CoefficientBuffer all(full, "full", F, C), fewer(less, "less", F, C);
    const Matrix to(out, "out", 6 * K, C, true);
    marks.need_axes(1);
    marks.need_length(K);
    auto* mark = marks.all<std::uint8_t>(Type::u8, "uint8");
    for (int64_t i = 0; i < 3 * K * C; ++i) to.data[i] = 0.0;
    double* const t = to.data;
    const int64_t one = K * C;
    run(&Kernels::expert_terms,
        ExpertTermsTask{F, C, L, A, offsets.data(), at, by_class.data, node, many.data(), alpha, chosen, m.data,
                        m.data + F * C, m.data + 2 * F * C, w.data, w.data + F, w.data + 2 * F, all.view, fewer.view,
                        floor, chances.data, {t, t + one, t + 2 * one}, {t + 3 * one, t + 4 * one, t + 5 * one}, mark});
}

// Write the logs of the experts' weights, the average of all cells, and that of rows left out.
void mix_experts(nb::handle terms, nb::handle counts, nb::handle sizes, nb::handle log_rows, bool tree, bool student,
                 bool kernel, bool chosen, nb::handle pairs, nb::handle log_weights, nb::handle mixed, nb::handle left_out) {
    const auto F = static_cast<int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, F);
    const int64_t K = offsets.back();
    const Matrix by_class(counts, "counts", K, -1);
    const int64_t C = by_class.size(1), one = K * C;
    const Matrix from(terms, "terms", 9 * K, C), prior(log_rows, "log_rows", 2, C);
    const Matrix weights(log_weights, "log_weights", 3, F, true);
    const Buffer which(pairs, "pairs");
    which.need_axes(1);
    const int64_t P = which.size(0);
    const auto* pair = which.all<const int64_t>(Type::i64, "int64");
    for (int64_t p = 0; p < P; ++p)
        if (pair[p] < (p == 0 ? 0 : pair[p - 1]) || pair[p] >= one)
            refuse("pairs", "rising numbers of cells times classes", std::to_string(pair[p]));
    const Matrix to(left_out, "left_out", C, P, true);
    const double* t = from.data;
    MixExpertsTask task{F, C, P, offsets.data(), by_class.data, prior.data, {t, t + 3 * one, t + 6 * one},
                        {t + one, t + 4 * one, t + 7 * one}, {t + 2 * one, t + 5 * one, t + 8 * one},
                        {tree, student, kernel}, chosen, pair, weights.data, nullptr, to.data};
    if (mixed.is_none()) return run(&Kernels::mix_experts, task);
    const Matrix all(mixed, "mixed", K, C, true);
    task.mixed = all.data;
    run(&Kernels::mix_experts, task);
}

// Write the place of each cell.
void density_places(nb::handle sizes, nb::handle low, nb::handle value, nb::handle high, nb::handle pooled,
                    int64_t steps, int64_t farthest, nb::handle out) {
    const auto F = static_cast<int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, F);
    const int64_t K = offsets.back();
    const Buffer a(low, "low"), b(value, "value"), c(high, "high"), d(pooled, "pooled"), to(out, "out", true);
    to.need_axes(1);
    to.need_length(K);
    run(&Kernels::density_places,
        DensityPlacesTask{F, offsets.data(), numbers_of(a, K), numbers_of(b, K), numbers_of(c, K), numbers_of(d, K),
                          need_count(steps, "steps"), need_count(farthest, "farthest"),
                          to.all<std::int32_t>(Type::i32, "int32")});
}

// Write the terms of the kernel density to out (3 K, C), its weights, and the rows near each cell to sums (H K, C).
void density(nb::handle counts, nb::handle sizes, nb::handle places, int64_t n_places, nb::handle shapes,
             nb::handle masses, nb::handle prior, bool chosen, nb::handle weights, nb::handle out, nb::handle sums) {
    const auto F = static_cast<int64_t>(nb::len(sizes));
    const auto offsets = offsets_of(sizes, F);
    const int64_t K = offsets.back();
    const Matrix by_class(counts, "counts", K, -1), kernel(shapes, "shapes", -1, -1);
    const int64_t C = by_class.size(1), H = kernel.size(0), R = kernel.size(1);
    const Buffer at(places, "places"), alphas(masses, "masses");
    at.need_axes(1);
    at.need_length(K);
    const auto* place = at.all<const std::int32_t>(Type::i32, "int32");
    need_count(n_places, "n_places");
    for (int64_t k = 0; k < K; ++k)
        if (place[k] < 0 || place[k] >= n_places)
            refuse("places", "numbers from 0 to n_places - 1", std::to_string(place[k]));
    alphas.need_axes(1);
    const int64_t A = alphas.size(0);
    if (H < 1 || R < 1 || A < 1) refuse("shapes and masses", "at least one of each", "none");
    const Matrix rows(prior, "prior", 2, C), chances(weights, "weights", H * A, F, true);
    DensityTask task{F, C, n_places, H, R, A, offsets.data(), by_class.data, place, kernel.data, numbers_of(alphas, A),
                     rows.data, chosen, chances.data, {nullptr, nullptr, nullptr}, nullptr};
    std::optional<Matrix> terms, near;
    if (!out.is_none()) {
        double* const t = terms.emplace(out, "out", 3 * K, C, true).data;
        for (int64_t k = 0; k < 3; ++k) task.terms[k] = t + k * K * C;
    }
    if (!sums.is_none()) task.sums = near.emplace(sums, "sums", H * K, C, true).data;
    run(&Kernels::density, task);
}

}  // namespace

void bind_experts(nb::module_& m) {
    m.def("expert_terms", &expert_terms);
    m.def("mix_experts", &mix_experts, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    m.def("density_places", &density_places);
    m.def("density", &density, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg().none(), nb::arg().none());
}

}  // namespace tally
