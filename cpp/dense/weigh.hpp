// The log loss of weighted terms and its derivatives, block by block of rows: see dense/weigh_block.hpp.
#pragma once

#include "dense/weigh_curves.hpp"

namespace tally::TALLY_ISA {

template <class Block>
inline Fault weigh_blocks(const WeighTask& task, Block& block) {
    for (i64 start = task.first; start < task.end; start += kWeighRows) {
        const Fault fault = block.run(start, smaller(kWeighRows, task.end - start));
        if (fault.kind != FaultKind::none) return fault;
    }
    block.finish();
    return {};
}

inline Fault weigh_terms(const WeighTask& task) {
    if (task.curved) {
        CurvedBlock block(task);
        return weigh_blocks(task, block);
    }
    WeighBlock block(task);
    return weigh_blocks(task, block);
}

}  // namespace tally::TALLY_ISA
