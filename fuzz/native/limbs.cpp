// Exact accumulators under libFuzzer: doubles of any bits are added, then taken away; what is left must be zero, and the
// sum of the first half plus the sum of the second must be the sum of all, to the limb.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "exact/bigint.hpp"
#include "exact/limbs.hpp"

using namespace tally;
using namespace tally::TALLY_ISA;

static std::vector<double> finite(const std::uint8_t* data, std::size_t size) {
    std::vector<double> found;
    for (std::size_t at = 0; at + 8 <= size; at += 8) {
        double x;
        std::memcpy(&x, data + at, 8);
        if (x - x == 0.0) found.push_back(x);
    }
    return found;
}

static void add(LimbArray& sums, const std::vector<double>& numbers, std::size_t from, std::size_t to, bool minus) {
    for (std::size_t k = from; k < to; ++k) {
        const Parts parts = parts_of(numbers[k]);
        if (parts.mantissa == 0) continue;
        sums.reserve(word_of(parts.exponent), word_of(parts.exponent) + 4);
        sums.add(0, parts.mantissa, parts.exponent, parts.negative != minus);
    }
    sums.settle();
}

static std::vector<std::int64_t> limbs(LimbArray& sums) {
    Limbs out;
    sums.finish(out);
    std::vector<std::int64_t> copied(out.data, out.data + out.cells * out.length);
    copied.push_back(out.length == 0 ? 0 : out.base);
    if (out.length > 0) {
        double value = 0.0;
        to_float({{out.data, out.length, out.base}, out.cells, &value});
        if (value != value) std::abort();  // NaN
    }
    std::free(out.data);
    return copied;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<double> numbers = finite(data, size);
    const std::size_t n = numbers.size(), half = n / 2;
    LimbArray all(1), none(1), two(1);
    add(all, numbers, 0, n, false);
    add(none, numbers, 0, n, false);
    add(none, numbers, 0, n, true);
    add(two, numbers, half, n, false);
    add(two, numbers, 0, half, false);
    if (!none.zero(0)) std::abort();
    if (limbs(all) != limbs(two)) std::abort();
    return 0;
}
