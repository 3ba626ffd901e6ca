// In how many messages of each class each token is: a table of counts that changes in place.
//
// Open addressing on 64-bit token hashes. A slot has a key and its counts side by side, 8 + 4 C bytes (rounded up to 8),
// and at most 3/4 of the slots are taken. A slot is chosen by a secret multiplier, so that nobody can write a message
// whose tokens all fall into one place; nothing that leaves the table depends on it. Tokens of a message are prefetched
// together: the processor waits once, not once for each.
#pragma once

#include <algorithm>
#include <random>
#include <utility>

#include "mail/bytes.hpp"

namespace tally::mail {

class Table {
public:
    explicit Table(i64 n_classes)
        : C_(n_classes), stride_(static_cast<std::size_t>(1 + (n_classes + 1) / 2)), secret_(new_secret()) {
        allot(kFewestBits);
    }

    i64 n_classes() const { return C_; }
    i64 size() const { return live_; }

    void prefetch(const u64* hashes, i64 n) const {
        for (i64 k = 0; k < n; ++k) text::prefetch(slot(key_of(hashes[k])));
    }

    // The counts (C,) of a token; null if it was never seen.
    const u32* find(u64 hash) const {
        const u64 key = key_of(hash);
        for (u64* at = slot(key);; at = after(at)) {
            if (*at == key) return counts(at);
            if (*at == 0) return nullptr;
        }
    }

    void add(u64 hash, i64 c, u32 n) {
        u32* found = place(key_of(hash));
        live_ += is_zero(found) ? 1 : 0;
        found[c] += n;
    }

    // Take one message of a class away from a token that has some.
    void subtract(u64 hash, i64 c) {
        u32* found = const_cast<u32*>(find(hash));
        found[c] -= 1;
        live_ -= is_zero(found) ? 1 : 0;
    }

    // Call act(key, counts) for each token that some message has, in no order.
    template <class Act>
    void each(Act act) const {
        for (u64* at = slots(); at < end(); at += stride_)
            if (*at != 0 && !is_zero(counts(at))) act(static_cast<i64>(*at), counts(at));
    }

    // Keep only tokens for which keep(key, counts) holds, with room for more classes, and for `more` tokens.
    template <class Keep>
    void rebuild(i64 n_classes, Keep keep, i64 more = 0) {
        Table other(n_classes);
        int bits = kFewestBits;
        while ((i64{3} << bits) / 4 <= live_ + std::max(live_ / 4, more)) ++bits;
        other.allot(bits);
        each([&](i64 key, const u32* found) {
            if (!keep(key, found)) return;
            std::copy_n(found, C_, other.place(static_cast<u64>(key)));
            ++other.live_;
        });
        *this = std::move(other);
    }

    // Make room for n tokens more.
    void reserve(i64 n) {
        if (taken_ + n > most_) rebuild(C_, [](i64, const u32*) { return true; }, n);
    }

private:
    static constexpr int kFewestBits = 12;

    static u64 new_secret() {
        std::random_device device;
        return (static_cast<u64>(device()) << 32 | device()) | 1u;
    }
    static u64 key_of(u64 hash) { return hash != 0 ? hash : 1; }  // 0 marks an empty slot
    static u32* counts(u64* at) { return reinterpret_cast<u32*>(at + 1); }

    u64* slots() const { return reinterpret_cast<u64*>(memory_.data()); }
    u64* end() const { return slots() + (stride_ << bits_); }
    u64* slot(u64 key) const { return slots() + static_cast<std::size_t>(key * secret_ >> (64 - bits_)) * stride_; }
    u64* after(u64* at) const { return at + stride_ < end() ? at + stride_ : slots(); }
    bool is_zero(const u32* found) const {
        return std::all_of(found, found + C_, [](u32 n) { return n == 0; });
    }

    void allot(int bits) {
        const std::size_t bytes = text::bytes_for(i64{1} << bits, stride_ * sizeof(u64));
        memory_ = text::Piece();  // freed before the new one is taken
        memory_ = text::Piece(bytes);
        std::memset(memory_.data(), 0, bytes);
        bits_ = bits;
        most_ = (i64{3} << bits) / 4;
        taken_ = 0;
    }

    u32* place(u64 key) {
        for (u64* at = slot(key);; at = after(at)) {
            if (*at == key) return counts(at);
            if (*at != 0) continue;
            if (taken_ == most_) {
                rebuild(C_, [](i64, const u32*) { return true; }, live_);
                return place(key);
            }
            ++taken_;
            *at = key;
            return counts(at);
        }
    }

    i64 C_;
    std::size_t stride_;  // words of a slot
    u64 secret_;
    int bits_ = 0;
    i64 most_ = 0, taken_ = 0, live_ = 0;  // slots that may have a key, that have one, and that have counts, too
    text::Piece memory_;
};

}  // namespace tally::mail
