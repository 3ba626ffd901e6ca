// Sparse kernels under libFuzzer: any row pointers, indices and entries. A kernel counts them, or names the fault; the
// sanitizers find what it reads or writes elsewhere.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sparse/count_and_score.hpp"

using namespace tally;
using namespace tally::TALLY_ISA;

namespace {

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
    template <class T>
    T value() {
        T made{};
        for (std::size_t k = 0; k < sizeof(T); ++k) reinterpret_cast<char*>(&made)[k] = static_cast<char>(byte());
        return made;
    }

private:
    const std::uint8_t* data_;
    std::size_t size_, at_ = 0;
};

template <class Entry>
void attack(Bytes& bytes, Type type) {
    const std::int64_t rows = bytes.byte() % 9, columns = bytes.byte() % 9, entries = bytes.byte() % 33;
    const std::int64_t classes = 1 + bytes.byte() % 40;
    const bool sound = bytes.byte() % 4 != 0, weighted = bytes.byte() % 2 != 0, binary = bytes.byte() % 2 != 0;
    std::vector<std::int64_t> indptr(static_cast<std::size_t>(rows + 1));
    std::vector<std::int32_t> indices(static_cast<std::size_t>(entries)), own(static_cast<std::size_t>(rows));
    std::vector<Entry> data(static_cast<std::size_t>(entries));
    std::vector<double> weights(static_cast<std::size_t>(rows));
    std::int64_t last = 0;
    for (std::int64_t& one : indptr) {
        last = sound ? std::min(entries, last + bytes.byte() % 8) : bytes.value<std::int64_t>();
        one = last;
    }
    for (std::int32_t& one : indices) one = sound ? (columns ? bytes.byte() % static_cast<int>(columns) : 0) : bytes.value<std::int32_t>();
    for (Entry& one : data) one = bytes.value<Entry>();
    for (std::int32_t& one : own) one = bytes.byte() % static_cast<int>(classes + (sound ? 0 : 1));
    for (double& one : weights) one = bytes.value<double>();
    const Sparse matrix{{reinterpret_cast<const char*>(indptr.data()), 8, Type::i64},
                        {reinterpret_cast<const char*>(indices.data()), 4, Type::i32},
                        {reinterpret_cast<const char*>(data.data()), sizeof(Entry), type}, rows, columns, entries};
    Limbs counts;
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows));
    const Fault fault = count_sparse({matrix, own.data(), classes, weighted ? weights.data() : nullptr, binary, &counts, 1,
                                      bytes.byte() % 2 ? hashes.data() : nullptr});
    if (fault.kind == FaultKind::none) std::free(counts.data);
    std::vector<double> table(static_cast<std::size_t>(columns * classes), 0.5), out(static_cast<std::size_t>(rows * classes));
    score_sparse({matrix, table.data(), classes, out.data()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    switch (bytes.byte() % 4) {
        case 0: attack<double>(bytes, Type::f64); break;
        case 1: attack<float>(bytes, Type::f32); break;
        case 2: attack<std::int64_t>(bytes, Type::i64); break;
        default: attack<std::int32_t>(bytes, Type::i32);
    }
    return 0;
}
