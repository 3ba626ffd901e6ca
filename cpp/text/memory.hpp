// Memory for the text kernels: arrays that grow and can be handed to Python, and blocks that only grow.
//
// Text kernels are compiled once for all processors. So, unlike the numeric ones, they may use the standard library.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace tally::text {

using u8 = std::uint8_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr u32 kNone = 0xFFFFFFFFu;

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address, 1);
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#else
    (void)address;
#endif
}

inline u64 load64(const char* p) {
    u64 word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

inline std::size_t bytes_for(i64 count, std::size_t size) {
    if (count < 0 || static_cast<u64>(count) > static_cast<u64>(std::numeric_limits<i64>::max()) / size)
        throw std::bad_alloc();
    return static_cast<std::size_t>(count) * size;
}

// Memory for random access. Large blocks request huge pages: otherwise half of the time goes into address translation.
// They are mapped, not allocated: malloc keeps freed blocks of up to 32 MB, and arrays that outlive them lie between,
// so a second count would find the first one's memory still resident. What is in a new piece is undefined.
class Piece {
public:
    Piece() = default;
    explicit Piece(std::size_t bytes) {
#if defined(__linux__)
        constexpr std::size_t kPage = std::size_t{2} << 20;
        if (bytes >= 2 * kPage) {
            mapped_ = (bytes + kPage - 1) / kPage * kPage;
            void* const found = mmap(nullptr, mapped_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (found == MAP_FAILED) throw std::bad_alloc();
            char* const start = static_cast<char*>(found);
            const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(start) % kPage) % kPage;
            if (before > 0) munmap(start, before);
            if (before < kPage) munmap(start + before + mapped_, kPage - before);
            data_ = start + before;
            madvise(data_, mapped_, MADV_HUGEPAGE);
            return;
        }
#endif
        data_ = static_cast<char*>(std::malloc(bytes > 0 ? bytes : 1));
        if (data_ == nullptr) throw std::bad_alloc();
    }
    Piece(Piece&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}
    Piece& operator=(Piece&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(mapped_, other.mapped_);
        return *this;
    }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece() {
#if defined(__linux__)
        if (mapped_ > 0) {
            munmap(data_, mapped_);
            return;
        }
#endif
        std::free(data_);
    }
    char* data() const { return data_; }

private:
    char* data_ = nullptr;
    std::size_t mapped_ = 0;  // bytes, 0 if allocated
};

// An arena of ever larger blocks. Its memory does not move and is freed all at once.
class Blocks {
public:
    char* take(std::size_t bytes) {
        bytes = (bytes + 7) / 8 * 8;
        if (bytes > left_) {
            std::size_t size = total_ < kFirst ? kFirst : (total_ < kLargest ? total_ : kLargest);
            if (size < bytes) size = bytes;
            pieces_.emplace_back(size + kLine);
            next_ = pieces_.back().data();
            next_ += (kLine - reinterpret_cast<std::uintptr_t>(next_) % kLine) % kLine;
            left_ = size;
            total_ += size;
        }
        char* out = next_;
        next_ += bytes;
        left_ -= bytes;
        return out;
    }

private:
    static constexpr std::size_t kFirst = std::size_t{1} << 16, kLargest = std::size_t{32} << 20, kLine = 64;
    std::vector<Piece> pieces_;
    char* next_ = nullptr;
    std::size_t left_ = 0, total_ = 0;
};

// An array of plain values whose memory can be released to a new owner (freed by std::free).
template <class T>
class Growing {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Growing() = default;
    explicit Growing(i64 count) { resize(count); }
    Growing(Growing&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
          room_(std::exchange(other.room_, 0)) {}
    Growing& operator=(Growing&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
        return *this;
    }
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { std::free(data_); }

    i64 size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](i64 i) { return data_[i]; }
    const T& operator[](i64 i) const { return data_[i]; }

    void reserve(i64 count) {
        if (count <= room_) return;
        if (room_ > 0 && count < room_ + room_ / 2) count = room_ + room_ / 2;
        set_room(count);
    }
    void resize(i64 count) {  // new elements are not initialised
        reserve(count);
        size_ = count;
    }
    void zeros(i64 count) {  // all zero; pages that are never written take no memory
        std::free(data_);
        room_ = size_ = 0;
        const std::size_t bytes = bytes_for(count > 0 ? count : 1, sizeof(T));
        data_ = static_cast<T*>(std::calloc(bytes, 1));
        if (data_ == nullptr) throw std::bad_alloc();
        room_ = size_ = count;
    }
    void push(T value) {
        if (size_ == room_) reserve(size_ < 32 ? 64 : size_ * 2);
        data_[size_++] = value;
    }
    void clear() { size_ = 0; }
    T* release() {
        set_room(size_ > 0 ? size_ : 1);
        room_ = size_ = 0;
        return std::exchange(data_, nullptr);
    }

private:
    void set_room(i64 count) {
        void* grown = std::realloc(data_, bytes_for(count, sizeof(T)));
        if (grown == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(grown);
        room_ = count;
    }

    T* data_ = nullptr;
    i64 size_ = 0, room_ = 0;
};

}  // namespace tally::text
