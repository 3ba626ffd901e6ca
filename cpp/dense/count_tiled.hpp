// Counts of many rows in buckets, by the places of numbers in the plain arrays of BucketTable.
//
// Places are counted in tiles of 16-bit counters, which need no lookup of a bucket's code. Tiles are emptied before a
// counter could overflow, or a plain array moves. Numbers without a place are counted after the others of their block.
// IN, OUT: see FindBucketsTask. Classes are checked here.
#pragma once

#include "dense/count_buckets.hpp"
#include "dense/tile.hpp"

namespace tally::TALLY_ISA {

// Counters by place of eight columns, (C, 8, kTile), for each eight of some columns. Each is allocated by itself:
// together they would be huge pages, slow to clear.
class Tiles {
public:
    Tiles(i64 count, i64 n_classes) {
        for (i64 k = 0; k < count; ++k) memory_[k] = static_cast<u16*>(zeroed(n_classes * kClass, sizeof(u16)));
    }
    ~Tiles() {
        for (u16* const one : memory_) std::free(one);
    }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;

    static constexpr i64 kClass = kTogether * BucketTable::kTile;
    u16* of(i64 eight, i64 own) const { return memory_[eight] + own * kClass; }
    BucketTable::Tile column(i64 eight, i64 k) const { return {memory_[eight] + k * BucketTable::kTile, kClass}; }

private:
    u16* memory_[kBlockColumns / kTogether] = {};
};

// Counts the rows of up to kBlockColumns columns, from `first` on, in blocks sorted by class: the counters of a class
// stay in the first cache while its rows are counted.
class TileCounter {
public:
    TileCounter(const FindBucketsTask& task, BucketTable* tables, i64 first)
        : counts_(task.counts), C_(task.n_classes), first_(first),
          end_(smaller(first + kBlockColumns, task.table.n_columns)),
          n_eights_((end_ - first + kTogether - 1) / kTogether), tiles_(n_eights_, C_),
          sorted_(task.classes, C_, kCountRows), to_(kCountRows), rows_(C_), places_(n_eights_ * kPlaces) {
        for (i64 f = first_; f < end_; ++f) {
            each_[f - first_] = tables + (f - first_);
            each_[f - first_]->clear(task.table.columns[f], task.table.n_rows, C_);
        }
        read(task.table, task.classes);
    }

    // Go on with another table of as many columns.
    void read(const Table& table, const i32* classes) {
        sorted_.read(classes);
        for (i64 e = 0; e < n_eights_; ++e) eights_[e] = PlacedEight(table, first_ + e * kTogether);
    }

    // Begin a block of at most kCountRows rows, which are then placed in any parts, and counted.
    Fault begin(i64 start, i64 count) {
        start_ = start;
        count_ = count;
        const Fault fault = sorted_.sort(start, count);
        if (fault.kind != FaultKind::none) return fault;
        find_positions();
        for (i64 e = 0; e < n_eights_; ++e) eights_[e].begin(each_ + e * kTogether);
        return {};
    }

    // Place rows of the block, given the first of them.
    void place(i64 start, i64 count) {
        const i32* const to = to_.get() + (start - start_);
        bool rows = true;  // of one matrix, whose memory is read from end to end
        for (i64 e = 0; e < n_eights_; ++e) {
            const Column *const row = eights_[e].row, *const first = eights_[0].row;
            rows = rows && row != nullptr && row->type == first->type && row->stride == first->stride;
        }
        if (rows && eights_[0].row->type == Type::f64) return place_rows<double>(start, count, to);
        if (rows) return place_rows<float>(start, count, to);
        for (i64 e = 0; e < n_eights_; ++e) eights_[e].place(start, count, to, places(e));
    }

    void count() {
        for (i64 e = 0; e < n_eights_; ++e) {
            if (eights_[e].eight.width == kTogether) count_places<kTogether>(e);
            else count_places<0>(e);
            if (eights_[e].far) count_far(e);
        }
    }

    void finish(const FindBucketsTask& task) {
        empty();
        for (i64 f = first_; f < end_; ++f) finish_column(*each_[f - first_], task, f);
    }

private:
    static constexpr i64 kPlaces = kTogether * kCountRows, kEights = kBlockColumns / kTogether;

    void find_positions() {
        i32 place = 0;
        bool full = false;
        for (i64 k = 0; k < sorted_.n_present(); ++k) {
            const i32 c = sorted_.present(k), *const order = sorted_.order(c);
            for (i64 j = 0; j < sorted_.rows(c); ++j) to_[order[j]] = place++;
            full |= rows_[c] + sorted_.rows(c) > UINT16_MAX;
        }
        if (full) empty();
        for (i64 k = 0; k < sorted_.n_present(); ++k) rows_[sorted_.present(k)] += sorted_.rows(sorted_.present(k));
    }

    template <class Real>
    void place_rows(i64 start, i64 count, const i32* to) {
        constexpr i64 kChunk = PlacedEight::kChunk;
        const i64 stride = eights_[0].row->stride;
        for (i64 i = 0; i < count; i += kChunk)
            for (i64 e = 0; e < n_eights_; ++e)
                eights_[e].place_rows<Real>(eights_[e].row->base + (start + i) * stride, stride,
                                            smaller(kChunk, count - i), to + i, places(e));
    }

    // The width is a constant, or 0 for any.
    template <i64 Width>
    void count_places(i64 e) {
        const i64 width = Width > 0 ? Width : eights_[e].eight.width;
        const u16* at = places(e) + eights_[e].lead;
        for (i64 k = 0; k < sorted_.n_present(); ++k) {
            u16* const own = tiles_.of(e, sorted_.present(k));
            for (const u16* const end = at + kTogether * sorted_.rows(sorted_.present(k)); at < end; at += kTogether)
                for (i64 f = 0; f < width; ++f) ++own[f * BucketTable::kTile + at[f]];
        }
    }

    // Count the numbers that have no place, which are few; the plain arrays may move.
    TALLY_NOINLINE void count_far(i64 e) {
        constexpr i64 kSome = 16;  // rows to look at together
        const u16* at = places(e);
        const i32* const order = sorted_.order(sorted_.present(0));  // classes follow each other
        for (i64 j = 0; j < count_; j += kSome, at += kSome * kTogether) {
            u16 some = 0;
            for (i64 k = 0; k < kSome * kTogether; ++k) some = static_cast<u16>(some | (at[k] == BucketTable::kFar));
            for (i64 i = 0; some != 0 && i < smaller(kSome, count_ - j); ++i)
                count_far_row(e, at + kTogether * i, order[j + i]);
        }
    }

    void count_far_row(i64 e, const u16* at, i64 i) {
        const PlacedEight& placed = eights_[e];
        for (i64 k = 0; k < placed.eight.width; ++k) {
            if (at[placed.lead + k] != BucketTable::kFar) continue;
            const double x = real_element(placed.eight.columns[k], start_ + i);
            const i64 own = sorted_.class_of(i);
            each_[e * kTogether + k]->count_far(x, own, tiles_.column(e, k), counters(placed.eight.first + k));
        }
    }

    // Move all counts to the counters by code.
    void empty() {
        for (i64 f = first_; f < end_; ++f)
            each_[f - first_]->empty(tiles_.column((f - first_) / kTogether, (f - first_) % kTogether), counters(f));
        for (i64 c = 0; c < C_; ++c) rows_[c] = 0;
    }

    u16* places(i64 e) { return places_.get() + e * kPlaces; }
    u32* counters(i64 f) const { return counts_ + f * (BucketTable::kMost + 2) * C_; }

    u32* const counts_;
    const i64 C_, first_, end_, n_eights_;
    i64 start_ = 0, count_ = 0;  // of the block
    BucketTable* each_[kBlockColumns];
    PlacedEight eights_[kEights];
    Tiles tiles_;
    ClassTile sorted_;
    Scratch<i32> to_;     // the position of each row among those sorted by class
    Scratch<i64> rows_;   // of each class since counters were emptied
    Scratch<u16> places_;  // (eights, kCountRows, 8)
};

}  // namespace tally::TALLY_ISA
