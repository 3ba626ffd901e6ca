// The interface of bindings and kernels: plain structs, no code. Kernels are compiled once per instruction set,
// bindings once; a table of function pointers connects them.
//
// Letters: n rows, C classes, F columns. All memory in a task is borrowed; a kernel writes only to what is marked OUT.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally {

enum class Type : std::int32_t { f64, f32, i8, u8, i16, i32, i64 };

// One column of a table: element i is at base + i * stride (bytes), aligned to its type.
struct Column {
    const char* base;
    std::ptrdiff_t stride;
    Type type;
};

struct Table {
    const Column* columns;  // (F,)
    std::int64_t n_columns;
    std::int64_t n_rows;
};

// Rows indptr[i] .. indptr[i+1] of a compressed matrix; indptr and indices are i32 or i64, data f64, f32, i32 or i64.
struct Sparse {
    Column indptr;   // (n + 1,)
    Column indices;  // (n_entries,)
    Column data;     // (n_entries,)
    std::int64_t n_rows;
    std::int64_t n_columns;
    std::int64_t n_entries;
};

enum class FaultKind : std::int32_t { none, bad_class, bad_weight, not_finite, bad_entry, bad_index, bad_indptr, bad_code };

// Why a kernel stopped: the first offending cell in row order.
struct Fault {
    FaultKind kind = FaultKind::none;
    std::int64_t row = 0;
    std::int64_t column = 0;
    double value = 0.0;
};

// Exact numbers: cell i is sum_k data[i * length + k] * 2^(32 * (base + k)). Owned by the receiver, freed by std::free.
struct Limbs {
    std::int64_t* data = nullptr;
    std::int64_t cells = 0;
    std::int64_t length = 0;
    std::int64_t base = 0;
};

struct PowerTask {
    Table table;
    const std::int32_t* classes;  // (n,)
    std::int64_t n_classes;
    const double* weights;  // (n,) or null
    bool squares;
    Limbs* weight;  // OUT (C, F)
    Limbs* first;   // OUT (C, F)
    Limbs* second;  // OUT (C, F), if squares
    const std::uint64_t* seeds = nullptr;  // (F,), where rows are hashed as well: see HashDenseTask
    std::uint64_t* hashes = nullptr;       // OUT (n,), added to, with seeds
};

struct CountCodesTask {
    Table table;
    const std::int32_t* classes;  // (n,)
    std::int64_t n_classes;
    const std::int64_t* offsets;  // (F + 1,) running sum of sizes
    std::int64_t low;
    const double* weights;  // (n,) or null
    Limbs* counts;          // OUT (C, offsets[F])
    std::int64_t* outside;  // OUT (F,), zero on entry
    const std::uint64_t* value_hashes = nullptr;  // (offsets[F],), where rows are hashed as well: see HashCodesTask
    std::uint64_t* hashes = nullptr;              // OUT (n,), added to, with value_hashes
};

// Numbers as codes of buckets that are found while reading: see dense/buckets.hpp.
struct FindBucketsTask {
    static constexpr std::int64_t kMost = 1024;  // buckets of a column
    Table table;
    const std::int32_t* classes;  // (n,), from 0 to C - 1, or null
    std::int64_t n_classes;
    std::int16_t* codes;    // OUT (F, n), or null
    std::uint32_t* counts;  // OUT (F, kMost + 2, C) without codes, zero on entry: of code k in row k + 1
    std::int64_t* keys;    // OUT (F, smaller(n, kMost)), in the order of their codes
    std::int64_t* sizes;   // OUT (F,)
    std::int64_t* shifts;  // OUT (F,)
};

// Sums and buckets of the same numbers and classes, without weights, and hashes of the rows if the sums have seeds.
struct CountNumbersTask {
    PowerTask sums;
    FindBucketsTask buckets;  // without codes
};

// Numbers as codes of cells between rising edges.
struct FindCellsTask {
    static constexpr std::int64_t kMissing = 255;  // the code of NaN
    Table table;
    const double* edges;          // (offsets[F],)
    const std::int64_t* offsets;  // (F + 1,) running sum of the numbers of edges
    std::uint8_t* codes;          // OUT (F, n)
};

struct InterpolateTask {
    static constexpr std::int64_t kMost = 256;  // knots of a column
    Table table;
    const double *knots, *heights;  // (offsets[F],)
    const std::int64_t* offsets;    // (F + 1,)
    double* out;                    // OUT (F, n)
    bool* missing;                  // OUT
};

struct DistancesTask {
    static constexpr std::int64_t kMost = 64;  // columns
    Table table;
    const double* mean;  // (C, d)
    const double* root;  // (C, d, d)
    std::int64_t n_classes;
    double* out;  // OUT (n, C)
};

struct CountPairsTask {
    Table table;
    const std::int32_t* classes;  // (n,)
    std::int64_t n_classes;
    const std::int64_t* offsets;  // (F + 1,) running sum of sizes
    const std::int64_t* starts;   // (F (F - 1) / 2 + 1,) running sum of the products of two sizes
    const double* weights;        // (n,) or null
    Limbs* counts;                // OUT (C, starts[F (F - 1) / 2])
};

struct CountSparseTask {
    Sparse matrix;
    const std::int32_t* classes;  // (n,)
    std::int64_t n_classes;
    const double* weights;  // (n,) or null
    bool binary;
    Limbs* counts;  // OUT (C, n_columns)
    std::uint64_t seed = 0;
    std::uint64_t* hashes = nullptr;  // OUT (n,), added to, or null
};

struct ScoreDenseTask {
    Table table;
    const double* mean;      // (C, F)
    const double* rest;      // (C, F), added to the means; null: 0
    const double* scale;     // (C, F)
    const double* constant;  // (C, F)
    const double* power;     // (C, F), student only
    std::int64_t n_classes;
    double* out;            // OUT (n, C), added to
    bool* holes = nullptr;  // OUT, set where a value is missing; or null
};

// Coefficients of a class's density, each (C, F); dense/leave_one_out.hpp has the formulas.
struct LeaveCoefficients {
    const double *pull, *between, *share, *whole, *freedom, *constant;
};

struct LeaveDenseTask {
    Table table;
    const std::int32_t* classes;  // (n,)
    std::int64_t n_classes;
    const double *n, *mean, *m2, *rest;                             // (C, F)
    const double *whole_n, *whole_mean, *whole_m2, *whole_rest;     // (F,)
    LeaveCoefficients full, less;                      // for all rows, and for one row less
    double floor;
    bool student;
    void (*lost)(void*, std::int64_t row, std::int64_t column);  // called with `lost_to` for each cell skipped
    void* lost_to;
    bool apart;   // whether each column is written by itself
    double* out;  // OUT (n, C), or (F, n, C), added to
};

// Two experts on the cells of numeric columns: see dense/experts.hpp. K cells of all columns together.
struct ExpertTermsTask {
    std::int64_t n_columns, n_classes, n_levels, n_alphas;
    const std::int64_t* offsets;  // (F + 1,) running sum of the numbers of cells
    const double* value;          // (K,)
    const double* counts;         // (K, C)
    const std::int32_t* nodes;    // (L, K), -1 for none
    const std::int64_t* n_nodes;  // (L,), even
    const double* alphas;         // (A,)
    bool chosen;                  // whether omegas are given
    const double *n, *mean, *m2;                    // (F, C)
    const double *whole_n, *whole_mean, *whole_m2;  // (F,)
    LeaveCoefficients full, less;                   // (F, C), for all rows, and for one row less
    double floor;
    double* omegas;       // OUT (L, A, F), or given
    double* tree[3];      // OUT (K, C): now, other and own; zero on entry
    double* student[3];   // OUT (K, C)
    std::uint8_t* lost;   // OUT (K,): whether other and own cancel too many digits
};

constexpr int kExperts = 3;  // a tree, a Student t, and a kernel density

struct MixExpertsTask {
    std::int64_t n_columns, n_classes, n_pairs;
    const std::int64_t* offsets;  // (F + 1,)
    const double* counts;         // (K, C)
    const double* log_rows;       // (2, C): logs of the class prior, and of that with a row less
    const double *now[kExperts], *other[kExperts], *own[kExperts];  // (K, C)
    bool used[kExperts];
    bool chosen;                // whether weights are given
    const std::int64_t* pairs;  // (P,), rising: cell times C plus class
    double* log_weights;        // OUT (3, F), or given
    double* mixed;              // OUT (K, C), or null
    double* left_out;           // OUT (C, P)
};

// A kernel density on the cells of numeric columns: see dense/kernel_density.hpp.
struct DensityPlacesTask {
    std::int64_t n_columns;
    const std::int64_t* offsets;                  // (F + 1,)
    const double *low, *value, *high, *pooled;    // (K,)
    std::int64_t steps, farthest;                 // to a standard deviation, and to the farthest place
    std::int32_t* places;                         // OUT (K,): from 0 to 2 farthest
};

struct DensityTask {
    std::int64_t n_columns, n_classes, n_places, n_widths, reach, n_masses;
    const std::int64_t* offsets;  // (F + 1,)
    const double* counts;         // (K, C)
    const std::int32_t* places;   // (K,)
    const double* shapes;         // (H, R): the kernel of each width, by distance
    const double* masses;         // (A,)
    const double* prior;          // (2, C): the class prior, and that with a row less
    bool chosen;                  // whether weights are given
    double* weights;              // OUT (H A, F), or given
    double* terms[3];             // OUT (K, C): now, other and own; or null
    double* sums;                 // OUT (H, K, C), or null
};

struct ScoreCodesTask {
    Table table;
    const double* scores;         // (offsets[F], C)
    const std::int64_t* offsets;  // (F + 1,)
    std::int64_t low;
    bool outside_is_last;
    const std::int32_t* classes;  // (n,), own-class only
    std::int64_t n_classes;
    double* out;  // OUT (n, C), added to
};

struct ScoreCellsTask {
    Table table;
    const std::int64_t* lows;     // (P,)
    const std::int64_t* sizes;    // (P,)
    const std::int64_t* starts;   // (K + 1,)
    const std::int32_t* members;  // (starts[K],)
    const std::int64_t* offsets;  // (K + 1,)
    const double* scores;         // (offsets[K], C)
    std::int64_t n_combinations, n_classes;
    double* out;  // OUT (n, C), added to
};

struct ScoreTestTask {
    Table table;
    const double* full;            // (offsets[F], C)
    const double* less;            // (offsets[F], C)
    const std::int64_t* offsets;   // (F + 1,)
    const std::int32_t* classes;   // (n,)
    const double* p;               // (n, C)
    const double* slope_weights;   // (n,)
    const double* curve_weights;   // (n,)
    std::int64_t n_classes;
    double* slope;  // OUT (F,)
    double* curve;  // OUT (F,)
};

struct ScoreSparseTask {
    Sparse matrix;
    const double* scores;  // (n_columns, C)
    std::int64_t n_classes;
    double* out;      // OUT (n, C), added to
    double* lengths;  // OUT (n,), the sum of each row, or null
};

struct LeaveSparseTask {
    Sparse matrix;
    const std::int32_t* classes;  // (n,)
    const std::int64_t* counts;   // (C, n_columns)
    const double* alpha;          // (n_columns,)
    std::int64_t n_classes;
    double* out;  // OUT (n,), added to
};

// Terms of scores, multiplied by class weights (`asked`) and summed: see codes/contributions.hpp.
struct TermsDenseTask {
    Table table;
    const double* mean;      // (C, F)
    const double* rest;      // (C, F), added to the means; null: 0
    const double* scale;     // (C, F)
    const double* constant;  // (C, F)
    const double* power;     // (C, F), or null: normal
    std::int64_t n_classes;
    const double* asked;  // (n, C)
    double* out;          // OUT (n, F), added to
};

struct TermsCodesTask {
    Table table;
    const double* scores;         // (offsets[F], C)
    const std::int64_t* offsets;  // (F + 1,)
    std::int64_t low;
    bool outside_is_last;
    std::int64_t n_classes;
    const double* asked;  // (n, C)
    double* out;          // OUT (n, F), added to
};

// Sums of the 64-bit hashes of a row's cells: equal rows have equal sums, in any order of rows and columns.
struct HashDenseTask {
    Table table;
    const std::uint64_t* seeds;  // (F,)
    std::uint64_t* out;          // OUT (n,), added to
};

struct HashCodesTask {
    Table table;
    const std::uint64_t* hashes;  // (offsets[F],)
    const std::int64_t* offsets;  // (F + 1,)
    std::int64_t low;
    std::uint64_t* out;     // OUT (n,), added to
    std::int64_t* outside;  // OUT the number of codes outside, added to
};

// Words to be mixed: see dense/hash.hpp.
struct MixWordsTask {
    std::uint64_t* words;  // IN and OUT (count,)
    std::int64_t count;
};

struct HashSparseTask {
    Sparse matrix;
    std::uint64_t seed;
    std::uint64_t* out;  // OUT (n,), added to
};

struct SoftmaxTask {
    const double* scores;  // (n, C)
    double* out;           // OUT (n, C), may be scores
    double* log_norm;      // OUT (n,)
    std::int64_t n_rows;
    std::int64_t n_classes;
    bool log;  // return log-probabilities
};

struct BestClassTask {
    const double* scores;  // (n, C)
    std::int64_t* best;    // OUT (n,)
    bool* finite;          // OUT: whether every largest score is finite, and no score NaN
    std::int64_t n_rows;
    std::int64_t n_classes;
};

struct WeighSums {
    double loss;
    double all_curve;
    double* scale;        // (U,)
    double* bias;         // (C,)
    double* table;        // (K, C)
    double* scale_curve;  // (U,), and so on
    double* bias_curve;
    double* table_curve;
};

// Terms and corrections that rows look up by a code, table by table.
struct CodedTerms {
    const std::int32_t* codes;    // (V, n) below the size of their table, -1 for none
    const std::int64_t* offsets;  // (V + 1,) of each table's entries
    const double* values;         // (P, C - 1) the term of each entry
    const std::int32_t* terms;    // (V,) the number of each table's term, -1 for none
    const std::int32_t* bins;     // (P,) the correction of each entry, -1 for none
    std::int64_t n_tables;
};

struct WeighTask {
    const double* base;          // (C - 1, n)
    const float* terms;          // (T, C - 1, n)
    const std::int32_t* numbers; // (T,) of these among all terms
    CodedTerms coded;
    const std::int32_t* classes; // (n,)
    const double* weights;       // (n,) or null
    const double* share;         // (n,)
    const double* scale;         // (U,)
    const double* bias;          // (C,)
    const double* table;         // (K, C)
    std::int64_t n_rows;
    std::int64_t first, end;  // of the rows to add up
    std::int64_t n_classes;
    std::int64_t n_terms;        // T
    std::int64_t n_corrections;  // K
    bool sloped;      // whether to compute slopes
    bool curved;      // whether to compute curvatures
    double* p;        // OUT (n, C) or null
    WeighSums* sums;  // OUT, added to
};

struct TemperTask {
    const double* scores;   // (n, C)
    const double* own;      // (n,)
    const double* logs;     // (n,)
    const double* weights;  // (n,) or null
    std::int64_t n_rows;
    std::int64_t n_classes;
    double u, v;
    double* loss;    // (n,), OUT of rows, IN for sums
    double* slopes;  // (n, 2), the same
    double* sums;    // OUT (6,)
};

// Borrowed limbs: value i starts at data + i * length.
struct LimbsView {
    const std::int64_t* data;
    std::int64_t length;
    std::int64_t base;
};

struct MomentsTask {
    LimbsView weight, first, second;
    std::int64_t cells;
    double* n;     // OUT (cells,)
    double* mean;  // OUT (cells,)
    double* m2;    // OUT (cells,)
    double* rest;  // OUT (cells,)
};

struct ToFloatTask {
    LimbsView values;
    std::int64_t cells;
    double* out;  // OUT (cells,)
};

// One row's score under the densities of exact/normal_sums.hpp.
struct NormalScoreTask {
    const double* x;      // (F,)
    const double* alpha;  // (F,)
    double floor;
    double ddof;
    bool student;
    bool learned_prior;  // add the log of each class's share of the rows
    double* out;         // OUT (C,), added to
};

struct SumRowsTask {
    const double* table;  // (V, C)
    std::int64_t n_classes;
    const std::int32_t* indices;  // (n,)
    std::int64_t n;
    double* sums;  // OUT (C,), added to
};

struct ElementwiseTask {
    int function;  // 0 log, 1 log1p, 2 exp, 3 log Gamma
    const double* in;  // (n,)
    std::int64_t n;
    double* out;  // OUT (n,), may be in
};

struct ProductTask {
    const double* left;   // (n, F)
    const double* right;  // (F, C)
    std::int64_t n_rows, width, n_classes;
    double* out;  // OUT (n, C), added to
};

struct Kernels {
    const char* name;
    Fault (*power_sums)(const PowerTask&);
    Fault (*count_codes)(const CountCodesTask&);
    Fault (*count_pairs)(const CountPairsTask&);
    Fault (*find_buckets)(const FindBucketsTask&);
    Fault (*count_numbers)(const CountNumbersTask&);
    // The same for several tables, one after the other (dense/count_numbers.hpp): state behind a pointer.
    void* (*numbers_new)();
    void (*numbers_delete)(void*);
    Fault (*numbers_add)(void*, const CountNumbersTask&);
    Fault (*numbers_finish)(void*, const CountNumbersTask&);
    Fault (*find_cells)(const FindCellsTask&);
    Fault (*count_sparse)(const CountSparseTask&);
    Fault (*score_gaussian)(const ScoreDenseTask&);
    Fault (*score_student)(const ScoreDenseTask&);
    Fault (*leave_dense)(const LeaveDenseTask&);
    Fault (*expert_terms)(const ExpertTermsTask&);
    Fault (*mix_experts)(const MixExpertsTask&);
    Fault (*density_places)(const DensityPlacesTask&);
    Fault (*density)(const DensityTask&);
    Fault (*score_codes)(const ScoreCodesTask&);
    Fault (*score_own_codes)(const ScoreCodesTask&);
    Fault (*score_cells)(const ScoreCellsTask&);
    Fault (*interpolate)(const InterpolateTask&);
    Fault (*distances)(const DistancesTask&);
    Fault (*score_sparse)(const ScoreSparseTask&);
    Fault (*leave_sparse)(const LeaveSparseTask&);
    Fault (*terms_dense)(const TermsDenseTask&);
    Fault (*terms_codes)(const TermsCodesTask&);
    Fault (*hash_dense)(const HashDenseTask&);
    Fault (*hash_codes)(const HashCodesTask&);
    Fault (*hash_sparse)(const HashSparseTask&);
    Fault (*mix_words)(const MixWordsTask&);
    Fault (*softmax)(const SoftmaxTask&);
    Fault (*best_class)(const BestClassTask&);
    Fault (*temper_rows)(const TemperTask&);
    Fault (*temper_sums)(const TemperTask&);
    Fault (*weigh_terms)(const WeighTask&);
    Fault (*score_test)(const ScoreTestTask&);
    Fault (*exact_moments)(const MomentsTask&);
    Fault (*to_float)(const ToFloatTask&);
    void (*sum_rows)(const SumRowsTask&);
    Fault (*elementwise)(const ElementwiseTask&);
    Fault (*add_product)(const ProductTask&);
    // Sums that change row by row (exact/normal_sums.hpp): state behind a pointer.
    void* (*normals_new)(std::int64_t columns);
    void (*normals_delete)(void*);
    void (*normals_extend)(void*);
    bool (*normals_change)(void*, std::int64_t c, const double* x, double w, bool minus);
    void (*normals_load)(void*, std::int64_t c, const LimbsView* from);
    void (*normals_copy)(void*, std::int64_t which, Limbs& out);
    double (*normals_rows)(void*, std::int64_t c);
    void (*normals_score)(void*, const NormalScoreTask&);
};

const Kernels* kernels_baseline();
const Kernels* kernels_v3();  // null where the compiler does not target x86-64

}  // namespace tally
