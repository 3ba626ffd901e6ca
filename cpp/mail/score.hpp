// The score of messages for each class against the rest.
//
// w = ln((n_c + .01) / (D_c + .02)) − ln((n_r + .01) / (D_r + .02)): n messages with the token, D all messages, of
// class c and of the rest r. Tokens never seen or with |w| < 2.5 are left out. A group's score is Σ w / (length + 5),
// that of a message the sum over its groups; 0 where one side has no message.
//
// IN  totals (C,), the class that each message was learned in, or −1: it is then left out
// OUT out (n, C); sums are in the order of the hashes, so that a message's score does not depend on the others
// Twin: kernels/mail_reference.py. Cost: one probe and 2 C logarithms (from a table) a token.
#pragma once

#include "dense/elementary.hpp"
#include "mail/table.hpp"

namespace tally::mail {

constexpr double kCount = 0.01, kTotal = 0.02, kLeast = 2.5, kDivisor = 5.0;

class Logs {
public:
    Logs() : known_(1 << 12) {
        for (std::size_t n = 0; n < known_.size(); ++n) known_[n] = TALLY_ISA::logarithm(static_cast<double>(n) + kCount);
    }
    double operator()(i64 n) const {
        const auto at = static_cast<std::size_t>(n);
        return at < known_.size() ? known_[at] : TALLY_ISA::logarithm(static_cast<double>(n) + kCount);
    }

private:
    std::vector<double> known_;
};

class Scorer {
public:
    // own: the class that the message was learned in and is left out of, or −1.
    Scorer(const i64* totals, i64 n_classes, i64 own) : C_(n_classes), own_(own), offsets_(static_cast<std::size_t>(C_)) {
        i64 all = 0;
        for (i64 c = 0; c < C_; ++c) all += totals[c] - (c == own ? 1 : 0);
        for (i64 c = 0; c < C_; ++c) {
            const i64 mine = totals[c] - (c == own ? 1 : 0), rest = all - mine;
            Offset& offset = offsets_[static_cast<std::size_t>(c)];
            offset.usable = mine > 0 && rest > 0;
            if (!offset.usable) continue;
            offset.value = TALLY_ISA::logarithm(static_cast<double>(rest) + kTotal) - TALLY_ISA::logarithm(static_cast<double>(mine) + kTotal);
        }
    }

    // Add the score of one group of a message to out (C,).
    void add(const Table& table, const u64* hashes, i64 n, const Logs& logs, double* out) {
        sums_.assign(static_cast<std::size_t>(C_), {});
        table.prefetch(hashes, n);
        for (i64 k = 0; k < n; ++k) {
            const u32* counts = table.find(hashes[k]);
            if (counts == nullptr) continue;
            i64 all = own_ >= 0 ? -1 : 0;
            for (i64 c = 0; c < C_; ++c) all += counts[c];
            if (all <= 0) continue;
            for (i64 c = 0; c < C_; ++c) {
                const Offset& offset = offsets_[static_cast<std::size_t>(c)];
                if (!offset.usable) continue;
                const i64 mine = static_cast<i64>(counts[c]) - (c == own_ ? 1 : 0);
                if (mine < 0 || mine > all) continue;  // a message that was never learned
                const double w = logs(mine) - logs(all - mine) + offset.value;
                if (w < kLeast && w > -kLeast) continue;
                Sum& sum = sums_[static_cast<std::size_t>(c)];
                sum.weight += w;
                sum.length += 1.0;
            }
        }
        for (i64 c = 0; c < C_; ++c) {
            const Sum& sum = sums_[static_cast<std::size_t>(c)];
            out[c] += sum.weight / (sum.length + kDivisor);
        }
    }

private:
    struct Offset {
        double value = 0.0;
        bool usable = false;
    };
    struct Sum {
        double weight = 0.0, length = 0.0;
    };
    i64 C_, own_;
    std::vector<Offset> offsets_;
    std::vector<Sum> sums_;
};

}  // namespace tally::mail
