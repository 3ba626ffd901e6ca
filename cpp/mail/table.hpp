// In how many messages of each class each token is: a table of counts that changes in place.
//
// Open addressing on 64-bit token hashes, 8 + 4 C bytes a slot, at most 3/4 of the slots taken. A slot is chosen by a
// secret multiplier, so that nobody can write a message whose tokens all fall into one place; nothing that leaves the
// table depends on it. Tokens of a message are prefetched together: the processor waits once, not once for each.
#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "mail/bytes.hpp"

namespace tally::mail {

class Table {
public:
    explicit Table(i64 n_classes) : C_(n_classes), secret_(new_secret()) { allot(12); }

    i64 n_classes() const { return C_; }
    i64 size() const { return live_; }

    void prefetch(const u64* hashes, i64 n) const {
        for (i64 k = 0; k < n; ++k) {
            const std::size_t at = slot(key_of(hashes[k]));
            text::prefetch(&keys_[at]);
            text::prefetch(&counts_[at * width()]);
        }
    }

    // Make room for n tokens more.
    void reserve(i64 n) {
        if (taken_ + n > static_cast<i64>(mask_ / 4 * 3)) rebuild(C_, [](i64, const u32*) { return true; }, n);
    }

    // The counts (C,) of a token; null if it was never seen.
    const u32* find(u64 hash) const {
        const u64 key = key_of(hash);
        for (std::size_t at = slot(key);; at = (at + 1) & mask_) {
            if (keys_[at] == key) return &counts_[at * width()];
            if (keys_[at] == 0) return nullptr;
        }
    }

    void add(u64 hash, i64 c, u32 n) {
        u32* counts = place(key_of(hash));
        live_ += is_zero(counts) ? 1 : 0;
        counts[c] += n;
    }

    // Take one message of a class away from a token that has some.
    void subtract(u64 hash, i64 c) {
        u32* counts = const_cast<u32*>(find(hash));
        counts[c] -= 1;
        live_ -= is_zero(counts) ? 1 : 0;
    }

    // Call act(key, counts) for each token that some message has, in no order.
    template <class Act>
    void each(Act act) const {
        for (std::size_t at = 0; at <= mask_; ++at)
            if (keys_[at] != 0 && !is_zero(&counts_[at * width()])) act(static_cast<i64>(keys_[at]), &counts_[at * width()]);
    }

    // Keep only tokens for which keep(key, counts) holds, with room for more classes, and for `more` tokens.
    template <class Keep>
    void rebuild(i64 n_classes, Keep keep, i64 more = 0) {
        Table other(n_classes);
        int bits = 12;
        while ((i64{3} << bits) / 4 <= std::max(live_ + live_ / 4, live_ + more)) ++bits;
        other.allot(bits);
        each([&](i64 key, const u32* counts) {
            if (!keep(key, counts)) return;
            std::copy_n(counts, width(), other.place(static_cast<u64>(key)));
            ++other.live_;
        });
        *this = std::move(other);
    }

private:
    static u64 new_secret() {
        std::random_device device;
        return (static_cast<u64>(device()) << 32 | device()) | 1u;
    }
    static u64 key_of(u64 hash) { return hash != 0 ? hash : 1; }  // 0 marks an empty slot
    std::size_t width() const { return static_cast<std::size_t>(C_); }
    std::size_t slot(u64 key) const { return static_cast<std::size_t>(key * secret_ >> shift_); }
    bool is_zero(const u32* counts) const {
        return std::all_of(counts, counts + C_, [](u32 n) { return n == 0; });
    }

    void allot(int bits) {
        keys_.assign(std::size_t{1} << bits, 0);
        counts_.assign((std::size_t{1} << bits) * width(), 0);
        mask_ = (std::size_t{1} << bits) - 1;
        shift_ = 64 - bits;
        taken_ = 0;
    }

    u32* place(u64 key) {
        for (std::size_t at = slot(key);; at = (at + 1) & mask_) {
            if (keys_[at] == key) return &counts_[at * width()];
            if (keys_[at] != 0) continue;
            if (++taken_ > static_cast<i64>(mask_ / 4 * 3)) {
                rebuild(C_, [](i64, const u32*) { return true; });
                return place(key);
            }
            keys_[at] = key;
            return &counts_[at * width()];
        }
    }

    i64 C_;
    u64 secret_;
    std::size_t mask_ = 0;
    int shift_ = 0;
    i64 taken_ = 0, live_ = 0;  // slots with a key; of these, with counts
    std::vector<u64> keys_;
    std::vector<u32> counts_;
};

}  // namespace tally::mail
