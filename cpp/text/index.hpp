// Numbers for distinct tokens, and for pairs of numbers: open addressing over rows that never move.
//
// A slot has 8 bytes: 32 bits of hash, 32 of number. A token of up to 15 bytes, which is nearly every word, is stored
// whole in its row, beside the caller's payload. Lookups process a batch in three sweeps (prefetch slots, prefetch
// rows, compare), so the processor waits for memory once per batch and not once per token.
//
// IN  tokens with their hashes, or keys (parent, word); n of them
// OUT ids (n,): their numbers, kNone for a token that is not found
// The caller guarantees that long tokens' bytes stay readable during the call. Cost: one probe per token.
#pragma once

#include "text/column.hpp"
#include "text/token.hpp"

namespace tally::text {

// Rows of `stride` bytes, not initialised.
class Rows {
public:
    explicit Rows(i64 stride) : stride_(stride) {
        while (shift_ < 12 && (stride_ << (shift_ + 1)) <= kSegment) ++shift_;
    }
    u32 size() const { return size_; }
    char* operator[](u32 id) const {
        return segments_[id >> shift_] + static_cast<i64>(id & ((u32{1} << shift_) - 1)) * stride_;
    }
    u32 add() {
        if (size_ >= 0x7FFFFFFFu) throw TooMany{};
        if ((size_ & ((u32{1} << shift_) - 1)) == 0)
            segments_.push_back(blocks_.take(bytes_for(i64{1} << shift_, static_cast<std::size_t>(stride_))));
        return size_++;
    }

private:
    static constexpr i64 kSegment = i64{1} << 20;
    i64 stride_;
    int shift_ = 0;
    u32 size_ = 0;
    Blocks blocks_;
    std::vector<char*> segments_;
};

// From a hash to a number. A slot's position is the upper bits of its hash. So slots are sorted by hash, and move to a
// larger table in one sweep that does not read the tokens.
class Slots {
public:
    // expected: how many numbers there will be, if that is known: the table then never grows
    explicit Slots(i64 expected = 0) {
        int log2 = 10;
        while (log2 < 31 && (i64{1} << log2) / 2 <= expected) ++log2;
        allocate(log2);
    }

    static u32 tag_of(u64 hash) { return static_cast<u32>(hash >> 32); }
    void ask(u64 hash) const { prefetch(slots_ + (tag_of(hash) >> shift_)); }
    u32 guess(u64 hash) const { return static_cast<u32>(slots_[tag_of(hash) >> shift_]) - 1; }  // kNone if free

    // Return the number for which same(number) holds, or add() if there is none.
    template <class Same, class Add>
    u32 find(u64 hash, Same same, Add add) {
        const u32 tag = tag_of(hash);
        for (u64 i = tag >> shift_;; i = (i + 1) & mask_) {
            const u64 slot = slots_[i];
            const u32 id = static_cast<u32>(slot) - 1;
            if (slot == 0) return insert(tag, i, add());
            if (static_cast<u32>(slot >> 32) == tag && same(id)) return id;
        }
    }
    template <class Same>
    u32 find(u64 hash, Same same) const {
        const u32 tag = tag_of(hash);
        for (u64 i = tag >> shift_;; i = (i + 1) & mask_) {
            const u64 slot = slots_[i];
            const u32 id = static_cast<u32>(slot) - 1;
            if (slot == 0 || (static_cast<u32>(slot >> 32) == tag && same(id))) return id;
        }
    }

private:
    void allocate(int log2) {
        const std::size_t bytes = std::size_t{8} << log2;
        memory_ = Piece(bytes);
        slots_ = reinterpret_cast<u64*>(memory_.data());
        std::memset(slots_, 0, bytes);
        shift_ = 32 - log2;
        mask_ = (u64{1} << log2) - 1;
    }
    u32 insert(u32 tag, u64 i, u32 id) {
        slots_[i] = static_cast<u64>(tag) << 32 | (id + 1);
        if (++used_ > (mask_ + 1) / 8 * 4 && shift_ > 0) grow();
        return id;
    }
    void grow() {
        const Piece old = std::move(memory_);
        const auto* slots = reinterpret_cast<const u64*>(old.data());
        const u64 count = mask_ + 1;
        allocate(33 - shift_);
        for (u64 k = 0; k < count; ++k) {
            if (slots[k] == 0) continue;
            u64 i = slots[k] >> 32 >> shift_;
            while (slots_[i] != 0) i = (i + 1) & mask_;
            slots_[i] = slots[k];
        }
    }

    Piece memory_;
    u64* slots_ = nullptr;
    u64 mask_ = 0, used_ = 0;
    int shift_ = 0;
};

constexpr i64 kSweep = 128;  // tokens whose memory is prefetched before the first is read

// Distinct tokens, numbered from 0 in the order of their first appearance.
class Words {
public:
    // payload: bytes per token for the caller's use; zero at first
    explicit Words(i64 payload, i64 expected = 0)
        : payload_(payload), slots_(expected), rows_((kKey + payload + 7) / 8 * 8) {}

    u32 size() const { return rows_.size(); }
    void ask(const Token& token) const { slots_.ask(token.hash); }
    template <class T>
    T* payload(u32 id) const {
        return reinterpret_cast<T*>(rows_[id] + kKey);
    }
    // Return the token's bytes; short tokens are copied to `copy`.
    const char* bytes(u32 id, char (&copy)[16], i64& length) const {
        const Token token = key(id);
        length = token.length();
        if (token.is_long()) return token.address();
        store_little(copy, token.low);
        store_little(copy + 8, token.high);
        return copy;
    }

    void intern(const Token* tokens, i64 n, u32* ids) {
        sweep(tokens, n, [&](i64 i) { ids[i] = intern(tokens[i]); });
    }
    void find(const Token* tokens, i64 n, u32* ids) const {
        sweep(tokens, n, [&](i64 i) { ids[i] = find(tokens[i]); });
    }
    u32 intern(const Token& token) {
        return slots_.find(token.hash, [&](u32 id) { return same(id, token); }, [&] { return add(token); });
    }
    u32 find(const Token& token) const {
        return slots_.find(token.hash, [&](u32 id) { return same(id, token); });
    }

private:
    static constexpr i64 kKey = 16;

    template <class Do>
    void sweep(const Token* tokens, i64 n, Do act) const {
        for (i64 first = 0; first < n; first += kSweep) {
            const i64 end = n - first < kSweep ? n : first + kSweep;
            for (i64 i = first; i < end; ++i) slots_.ask(tokens[i].hash);
            for (i64 i = first; i < end; ++i) {
                const u32 id = slots_.guess(tokens[i].hash);
                if (id != kNone) prefetch(rows_[id]);
            }
            for (i64 i = first; i < end; ++i) act(i);
        }
    }
    Token key(u32 id) const {
        Token token;
        std::memcpy(&token.low, rows_[id], 8);
        std::memcpy(&token.high, rows_[id] + 8, 8);
        token.hash = 0;
        return token;
    }
    bool same(u32 id, const Token& token) const {
        const Token known = key(id);
        if (known.high != token.high) return false;
        if (!token.is_long()) return known.low == token.low;
        return std::memcmp(known.address(), token.address(), static_cast<std::size_t>(token.length())) == 0;
    }
    u32 add(Token token) {
        if (token.is_long()) {
            const auto length = static_cast<std::size_t>(token.length());
            char* kept = arena_.take(length);
            std::memcpy(kept, token.address(), length);
            token.low = static_cast<u64>(reinterpret_cast<std::uintptr_t>(kept));
        }
        const u32 id = rows_.add();
        std::memcpy(rows_[id], &token.low, 8);
        std::memcpy(rows_[id] + 8, &token.high, 8);
        std::memset(rows_[id] + kKey, 0, static_cast<std::size_t>(payload_));
        return id;
    }

    i64 payload_;
    Slots slots_;
    Rows rows_;
    Blocks arena_;
};

// Distinct n-grams of one length. A key is the number of the first n - 1 words (the parent) and that of the last word.
class Pairs {
public:
    explicit Pairs(i64 payload) : payload_(payload), rows_((kKey + payload + 7) / 8 * 8) {}

    static u64 key_of(u32 parent, u32 word) { return static_cast<u64>(parent) << 32 | word; }
    static u32 parent_of(u64 key) { return static_cast<u32>(key >> 32); }
    static u32 word_of(u64 key) { return static_cast<u32>(key); }

    u32 size() const { return rows_.size(); }
    u64 key(u32 id) const { return load64(rows_[id]); }
    template <class T>
    T* payload(u32 id) const {
        return reinterpret_cast<T*>(rows_[id] + kKey);
    }
    // Keys whose parent or word is kNone have no number: kNone.
    void intern(const u64* keys, i64 n, u32* ids) {
        sweep(keys, n, [&](i64 i) { ids[i] = is_none(keys[i]) ? kNone : intern(keys[i]); });
    }
    void find(const u64* keys, i64 n, u32* ids) const {
        sweep(keys, n, [&](i64 i) { ids[i] = is_none(keys[i]) ? kNone : find(keys[i]); });
    }
    u32 intern(u64 k) {
        return slots_.find(hash_pair(k), [&](u32 id) { return key(id) == k; }, [&] { return add(k); });
    }
    u32 find(u64 k) const {
        return slots_.find(hash_pair(k), [&](u32 id) { return key(id) == k; });
    }
    static bool is_none(u64 key) { return parent_of(key) == kNone || word_of(key) == kNone; }

private:
    static constexpr i64 kKey = 8;

    template <class Do>
    void sweep(const u64* keys, i64 n, Do act) const {
        for (i64 first = 0; first < n; first += kSweep) {
            const i64 end = n - first < kSweep ? n : first + kSweep;
            for (i64 i = first; i < end; ++i) slots_.ask(hash_pair(keys[i]));
            for (i64 i = first; i < end; ++i) {
                const u32 id = slots_.guess(hash_pair(keys[i]));
                if (id != kNone) prefetch(rows_[id]);
            }
            for (i64 i = first; i < end; ++i) act(i);
        }
    }
    u32 add(u64 k) {
        const u32 id = rows_.add();
        std::memcpy(rows_[id], &k, 8);
        std::memset(rows_[id] + kKey, 0, static_cast<std::size_t>(payload_));
        return id;
    }

    i64 payload_;
    Slots slots_;
    Rows rows_;
};

}  // namespace tally::text
