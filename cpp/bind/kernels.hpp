// All kernels of one instruction set, as a table. Include once per set, with TALLY_ISA defined as its namespace.
#pragma once

#include "exact/bigint.hpp"
#include "codes/count_and_score.hpp"
#include "codes/hash.hpp"
#include "codes/score_cells.hpp"
#include "bind/interface.hpp"
#include "dense/best_class.hpp"
#include "dense/count_buckets.hpp"
#include "dense/count_numbers.hpp"
#include "dense/find_cells.hpp"
#include "dense/mix_experts.hpp"
#include "dense/kernel_density.hpp"
#include "dense/elementwise.hpp"
#include "dense/distances.hpp"
#include "dense/interpolate.hpp"
#include "dense/leave_one_out.hpp"
#include "codes/pairs.hpp"
#include "codes/score_test.hpp"
#include "exact/normal_sums.hpp"
#include "exact/power_sums.hpp"
#include "dense/score.hpp"
#include "dense/softmax.hpp"
#include "sparse/count_and_score.hpp"
#include "sparse/hash.hpp"
#include "sparse/leave_one_out.hpp"
#include "dense/sum_rows.hpp"
#include "dense/temperature.hpp"
#include "dense/weigh.hpp"
#include "codes/contributions.hpp"

namespace tally::TALLY_ISA {

inline const Kernels* table(const char* name) {
    static const Kernels kernels{name,        power_sums,    count_codes,  count_pairs,     find_buckets,
                                 count_numbers, numbers_new, numbers_delete, numbers_add, numbers_finish,
                                 find_cells,  count_sparse,
                                 score_gaussian, score_student, leave_dense, expert_terms, mix_experts,
                                 density_places, density, score_codes,
                                 score_own_codes, score_cells, interpolate, distances, score_sparse, leave_sparse, terms_dense,  terms_codes,  hash_dense,
                                 hash_codes,
                                 hash_sparse, mix_words, softmax,       best_class,   temper_rows,  temper_sums, weigh_terms,     score_test,
                                 exact_moments, to_float,    sum_rows,     elementwise,     add_product,
                                 normals_new,     normals_delete,
                                 normals_extend, normals_change, normals_load, normals_copy,  normals_rows,
                                 normals_score};
    return &kernels;
}

}  // namespace tally::TALLY_ISA
