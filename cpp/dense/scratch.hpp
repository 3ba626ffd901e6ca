// Memory, floating-point environment and element access for kernels.
//
// Every function that a kernel calls is in its instruction set's own namespace, and none is a standard template.
// Otherwise a std::vector method compiled with AVX2 could be the copy that the linker keeps for all processors.
#pragma once

#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "bind/interface.hpp"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(_MSC_VER)
#pragma fp_contract(off)  // error-free splitting needs every operation rounded by itself
#endif

namespace tally::TALLY_ISA {

using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

template <class T>
inline T smaller(T a, T b) {
    return b < a ? b : a;
}

// For what is rare: inlined, it would take the registers of what is not.
#if defined(_MSC_VER)
#define TALLY_NOINLINE __declspec(noinline)
#else
#define TALLY_NOINLINE __attribute__((noinline))
#endif

template <class T>
inline T larger(T a, T b) {
    return a < b ? b : a;
}

// Return memory, zeroed or not, freed by std::free; throws std::bad_alloc. Large blocks request huge pages: otherwise
// counters accessed at random spend a third of their time on page faults and address translation.
inline void* memory_for(i64 count, i64 size, bool zeroed) {
    const auto some = static_cast<std::size_t>(larger<i64>(count, 1)), each = static_cast<std::size_t>(size);
    void* memory = zeroed ? std::calloc(some, each) : std::malloc(some * each);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    constexpr std::uintptr_t kPage = 4096;
    if (count * size >= i64{4} << 20) {
        const auto start = reinterpret_cast<std::uintptr_t>(memory);
        const auto from = (start + kPage - 1) / kPage * kPage;
        const auto to = (start + static_cast<std::uintptr_t>(count * size)) / kPage * kPage;
        madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);  // a hint; failure is harmless
    }
#endif
    return memory;
}

inline void* zeroed(i64 count, i64 size) { return memory_for(count, size, true); }

template <class T>
class Scratch {
public:
    explicit Scratch(i64 count, bool zeroed = true) : data_(static_cast<T*>(memory_for(count, sizeof(T), zeroed))) {}
    ~Scratch() { std::free(data_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    T* get() { return data_; }
    T& operator[](i64 i) { return data_[i]; }
    // Return the first element that starts a cache line. The caller allocates 64 bytes more than it uses.
    T* aligned() {
        const auto address = reinterpret_cast<std::uintptr_t>(data_);
        return data_ + (64 - address % 64) % 64 / sizeof(T);
    }
    T* release() {
        T* kept = data_;
        data_ = nullptr;
        return kept;
    }

private:
    T* data_;
};

// The same from the start of a cache line on: vectors that cross lines take twice as long.
template <class T>
class AlignedScratch {
public:
    explicit AlignedScratch(i64 count) : room_(count + 64 / i64{sizeof(T)}), data_(room_.aligned()) {}
    T* get() { return data_; }
    T& operator[](i64 i) { return data_[i]; }

private:
    Scratch<T> room_;
    T* const data_;
};

// Exactness needs round-to-nearest and subnormals; a library built with -ffast-math may have disabled either.
class PlainArithmetic {
public:
    PlainArithmetic() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~PlainArithmetic() { std::fesetenv(&saved_); }
    PlainArithmetic(const PlainArithmetic&) = delete;
    PlainArithmetic& operator=(const PlainArithmetic&) = delete;

private:
    std::fenv_t saved_;
};

inline u64 bits_of(double x) {
    u64 bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline double double_of(u64 bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline bool is_nan(double x) { return x != x; }
inline bool is_infinite(double x) { return (bits_of(x) << 1) == 0xFFE0000000000000u; }

template <class T>
inline T element(const Column& column, i64 i) {
    return *reinterpret_cast<const T*>(column.base + i * column.stride);
}

inline double real_element(const Column& column, i64 i) {
    return column.type == Type::f64 ? element<double>(column, i) : static_cast<double>(element<float>(column, i));
}

inline i64 integer_element(const Column& column, i64 i) {
    switch (column.type) {
        case Type::i8: return element<std::int8_t>(column, i);
        case Type::u8: return element<std::uint8_t>(column, i);
        case Type::i16: return element<std::int16_t>(column, i);
        case Type::i32: return element<i32>(column, i);
        default: return element<i64>(column, i);
    }
}

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
    __asm__ volatile("");  // gcc 12 leaves out calls of a function that does nothing but prefetch
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), 3);
#else
    (void)address;
#endif
}

// Return the full 128-bit product of two words.
struct Pair {
    u64 low, high;
};

inline Pair multiply(u64 a, u64 b) {
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return {static_cast<u64>(product), static_cast<u64>(product >> 64)};
#elif defined(_MSC_VER) && defined(_M_X64)
    Pair out;
    out.low = _umul128(a, b, &out.high);
    return out;
#else
    const u64 a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
    const u64 low = a0 * b0;
    const u64 middle = a1 * b0 + (low >> 32);
    const u64 cross = a0 * b1 + (middle & 0xFFFFFFFFu);
    return {(cross << 32) | (low & 0xFFFFFFFFu), a1 * b1 + (middle >> 32) + (cross >> 32)};
#endif
}

}  // namespace tally::TALLY_ISA
