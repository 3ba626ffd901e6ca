// All kernels of one instruction set, as a table. Include once per set, with TALLY_ISA defined as its namespace.
#pragma once

#include "bigint.hpp"
#include "codes.hpp"
#include "hash.hpp"
#include "interface.hpp"
#include "leave_dense.hpp"
#include "pairs.hpp"
#include "power_sums.hpp"
#include "score_dense.hpp"
#include "softmax.hpp"
#include "sparse.hpp"
#include "sum_rows.hpp"
#include "temper.hpp"
#include "terms.hpp"

namespace tally::TALLY_ISA {

inline const Kernels* table(const char* name) {
    static const Kernels kernels{name,        power_sums,    count_codes,  count_pairs,     count_sparse,
                                 score_gaussian, score_student, leave_dense, score_codes,    score_own_codes,
                                 score_sparse, terms_dense,  terms_codes,  hash_dense,      hash_codes,
                                 hash_sparse, softmax,       temper,       exact_moments,   to_float,
                                 sum_rows};
    return &kernels;
}

}  // namespace tally::TALLY_ISA
