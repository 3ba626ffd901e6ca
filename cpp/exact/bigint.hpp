// Long integers for the last step: from exact sums to the doubles that parameters are estimated from.
//
// IN: limbs (cells, L), any int64, settled or not. OUT: doubles (cells,).
// The caller guarantees: |base| and L below 2^20. Cost: to_float a few ns per cell for L = 1, else about 20 ns;
// exact_moments the product of the lengths, about 200 ns per cell for ordinary data. Its mean is rounded; `rest` is what
// that rounding lost, where it matters, and else 0.
// Twins: reference.to_float, reference.exact_moments.
#pragma once

#include <bit>
#include <cmath>

#include "exact/limbs.hpp"

namespace tally::TALLY_ISA {

// (-1)^negative * sum_k digits[k] * 2^(32 * (base + k)); first and last digit are not 0, and zero has no digits.
struct Number {
    u32* digits;
    i64 length;
    i64 base;
    bool negative;

    void trim() {
        while (length > 0 && digits[length - 1] == 0) --length;
        i64 zeros = 0;
        while (zeros < length && digits[zeros] == 0) ++zeros;
        digits += zeros;
        length -= zeros;
        base += zeros;
    }
};

// A nonzero number as significand * 2^exponent, significand in [2^53 - 1, 2^53] and correctly rounded.
struct Scaled {
    double significand;
    i64 exponent;
};

// Settle the carries of one cell; room for length + 2 digits.
inline Number read_number(const LimbsView& view, i64 cell, u32* room) {
    const i64* limbs = view.data + cell * view.length;
    i64 carry = 0;
    for (i64 k = 0; k < view.length; ++k) {
        const u64 sum = (static_cast<u64>(limbs[k]) & kDigit) + (static_cast<u64>(carry) & kDigit);
        room[k] = static_cast<u32>(sum);
        carry = (limbs[k] >> 32) + (carry >> 32) + static_cast<i64>(sum >> 32);
    }
    room[view.length] = static_cast<u32>(carry);
    room[view.length + 1] = static_cast<u32>(carry >> 32);
    Number number{room, view.length + 2, view.base, carry < 0};
    if (number.negative) {
        u64 borrow = 1;
        for (i64 k = 0; k < number.length; ++k) {
            borrow += static_cast<u32>(~room[k]);
            room[k] = static_cast<u32>(borrow);
            borrow >>= 32;
        }
    }
    number.trim();
    return number;
}

// Return the top 64 bits, the highest of them 1. The lowest is 1 if any lower bit was 1 (sticky bit).
inline u64 top_bits(const Number& number, i64& exponent) {
    const i64 n = number.length;
    const u64 high = number.digits[n - 1];
    const u64 middle = n > 1 ? number.digits[n - 2] : 0, low = n > 2 ? number.digits[n - 3] : 0;
    const int zeros = std::countl_zero(number.digits[n - 1]);
    const u64 pair = high << 32 | middle;
    u64 top = pair << zeros | low >> (32 - zeros);
    bool sticky = (low & ((u64{1} << (32 - zeros)) - 1)) != 0;
    for (i64 k = 0; !sticky && k + 3 < n; ++k) sticky = number.digits[k] != 0;
    exponent = 32 * (number.base + n - 2) - zeros;
    return top | (sticky ? 1 : 0);
}

// Return the integer nearest to bits / 2^drop, ties to even; 0 < drop <= 64.
inline u64 round_off(u64 bits, int drop) {
    const u64 kept = drop == 64 ? 0 : bits >> drop;
    const u64 half = u64{1} << (drop - 1), rest = drop == 64 ? bits : bits & ((u64{1} << drop) - 1);
    return kept + ((rest > half || (rest == half && (kept & 1) != 0)) ? 1 : 0);
}

// Return x * 2^exponent for |x| between 1/2 and 2^53, by an exact product where no power overflows: ldexp is a call.
inline double times_power(double x, i64 exponent) {
    if (exponent >= -900 && exponent <= 900) return x * double_of(static_cast<u64>(exponent + 1023) << 52);
    return std::ldexp(x, static_cast<int>(exponent));
}

inline double nearest_double(const Number& number) {
    if (number.length == 0) return 0.0;
    i64 exponent;
    const u64 top = top_bits(number, exponent);
    const double sign = number.negative ? -1.0 : 1.0;
    if (exponent > 1100) return sign * double_of(u64{0x7FF} << 52);
    // subnormal results have fewer bits and must be rounded only once
    const i64 drop = larger<i64>(11, -1074 - exponent);
    if (drop > 64) return sign * 0.0;
    const auto significand = static_cast<double>(round_off(top, static_cast<int>(drop)));
    return sign * times_power(significand, exponent + drop);
}

inline Scaled scaled(const Number& number) {
    i64 exponent;
    const u64 top = top_bits(number, exponent);
    const double significand = static_cast<double>(round_off(top, 11));
    return {number.negative ? -significand : significand, exponent + 11};
}

inline double quotient(const Number& numerator, const Number& denominator) {
    if (numerator.length == 0) return 0.0;
    const Scaled a = scaled(numerator), b = scaled(denominator);
    const i64 exponent = larger<i64>(-4000, smaller<i64>(4000, a.exponent - b.exponent));
    return times_power(a.significand / b.significand, exponent);
}

inline Number product(const Number& a, const Number& b, u32* room) {
    const i64 length = a.length + b.length;
    std::memset(room, 0, static_cast<std::size_t>(length) * sizeof(u32));
    for (i64 i = 0; i < a.length; ++i) {
        u64 carry = 0;
        for (i64 j = 0; j < b.length; ++j) {
            carry += static_cast<u64>(a.digits[i]) * b.digits[j] + room[i + j];
            room[i + j] = static_cast<u32>(carry);
            carry >>= 32;
        }
        room[i + b.length] = static_cast<u32>(carry);
    }
    Number out{room, length, a.base + b.base, a.negative != b.negative};
    out.trim();
    return out;
}

inline u64 digit_at(const Number& number, i64 word) {
    const i64 k = word - number.base;
    return k < 0 || k >= number.length ? 0 : number.digits[k];
}

// Return a - b for b >= 0. The caller has room for the words from the lowest of both to one above the highest.
inline Number difference(const Number& a, const Number& b, u32* room) {
    if (b.length == 0) return a;
    const i64 low = a.length == 0 ? b.base : smaller(a.base, b.base);
    const i64 high = larger(a.base + a.length, b.base + b.length) + 1;
    i64 carry = 0;
    for (i64 word = low; word < high; ++word) {
        const i64 from = static_cast<i64>(digit_at(a, word)), take = static_cast<i64>(digit_at(b, word));
        carry += a.negative ? from + take : from - take;
        room[word - low] = static_cast<u32>(carry);
        carry >>= 32;
    }
    Number out{room, high - low, low, a.negative || carry < 0};
    if (carry < 0) {  // the digits are the two's complement of the result
        u64 borrow = 1;
        for (i64 k = 0; k < out.length; ++k) {
            borrow += static_cast<u32>(~room[k]);
            room[k] = static_cast<u32>(borrow);
            borrow >>= 32;
        }
    }
    out.trim();
    return out;
}

inline Fault to_float(const ToFloatTask& task) {
    const PlainArithmetic plain;
    const LimbsView& values = task.values;
    if (values.length == 1 && values.base >= -28 && values.base <= 28) {  // no overflow, no subnormal
        const double unit = std::ldexp(1.0, static_cast<int>(32 * values.base));
        for (i64 i = 0; i < task.cells; ++i) task.out[i] = static_cast<double>(values.data[i]) * unit;
        return {};
    }
    Scratch<u32> room(values.length + 2);
    for (i64 i = 0; i < task.cells; ++i) task.out[i] = nearest_double(read_number(values, i, room.get()));
    return {};
}

// A mean this many standard deviations from 0 is kept in two doubles, so that deviations from it keep their digits.
constexpr double kFarFromZero = 1024.0, kLargestDouble = 0x1.fffffffffffffp1023;

// A finite double that is not 0, without its sign; room for 3 digits.
inline Number number_of(double x, u32* room) {
    const Parts parts = parts_of(x);
    const i64 word = word_of(parts.exponent);
    const int shift = static_cast<int>(parts.exponent - 32 * word);
    const u64 low = (parts.mantissa & kDigit) << shift, high = (parts.mantissa >> 32 << shift) + (low >> 32);
    room[0] = static_cast<u32>(low);
    room[1] = static_cast<u32>(high);
    room[2] = static_cast<u32>(high >> 32);
    Number number{room, 3, word, false};
    number.trim();
    return number;
}

// Return first / n - mean, where mean is first / n rounded, not 0 and finite; room for 2 (n + 3) + first digits.
inline double rest_of(Number first, const Number& n, double mean, u32* room) {
    u32 digits[3];
    const bool negative = first.negative;
    first.negative = false;
    const Number rounded = product(n, number_of(mean, digits), room);
    const double rest = quotient(difference(first, rounded, room + n.length + 3), n);
    return negative ? -rest : rest;
}

inline Fault exact_moments(const MomentsTask& task) {
    const PlainArithmetic plain;
    const i64 a = task.weight.length + 2, b = task.first.length + 2, c = task.second.length + 2;
    const i64 p = task.weight.base + task.second.base, q = 2 * task.first.base;
    const i64 span = larger(p + a + c, q + 2 * b) - smaller(p, q) + 2;
    Scratch<u32> digits(a + b + c + (a + c) + 2 * b + span + 2 * (a + 3) + b + 4);
    u32* const room_n = digits.get();
    u32* const room_1 = room_n + a;
    u32* const room_2 = room_1 + b;
    u32* const room_p = room_2 + c;
    u32* const room_q = room_p + a + c;
    u32* const room_d = room_q + 2 * b;
    u32* const room_r = room_d + span;
    for (i64 i = 0; i < task.cells; ++i) {
        const Number n = read_number(task.weight, i, room_n);
        task.n[i] = nearest_double(n);
        task.mean[i] = task.m2[i] = task.rest[i] = 0.0;
        if (n.length == 0) continue;
        const Number first = read_number(task.first, i, room_1), second = read_number(task.second, i, room_2);
        task.mean[i] = quotient(first, n);
        task.m2[i] = quotient(difference(product(n, second, room_p), product(first, first, room_q), room_d), n);
        const double away = std::fabs(task.mean[i]);
        if (!n.negative && away > kFarFromZero * std::sqrt(task.m2[i] / task.n[i]) && away <= kLargestDouble)
            task.rest[i] = rest_of(first, n, task.mean[i], room_r);
    }
    return {};
}

}  // namespace tally::TALLY_ISA
