// Python bindings of the mail kernels; kernels/mail.py is the only caller.
#define TALLY_ISA mail_isa
#include "mail/score.hpp"

#include <nanobind/stl/unique_ptr.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "bind/give.hpp"
#include "mail/message.hpp"

namespace tally {

namespace {

using mail::i32;
using mail::i64;
using mail::u32;
using mail::u64;
using text::Growing;

constexpr int kGroups = 2;  // header, body

template <class T>
nb::object copied(const std::vector<T>& from) {
    Growing<i64> out(static_cast<i64>(from.size()));
    for (std::size_t k = 0; k < from.size(); ++k) out[static_cast<i64>(k)] = static_cast<i64>(from[k]);
    return give(out);
}

// The token hashes of some messages, sorted and distinct within each group of a message.
struct MailTokens {
    struct Group {
        std::vector<i64> starts{0};
        std::vector<u64> hashes;
    };
    Group groups[kGroups];
    std::vector<i64> skipped, attached;
    std::vector<u64> ids;  // equal for messages with the same tokens

    i64 size() const { return static_cast<i64>(skipped.size()); }
    void add(const mail::Message& message) {
        const mail::Tokens* tokens[] = {&message.header, &message.body};
        for (int g = 0; g < kGroups; ++g) {
            groups[g].hashes.insert(groups[g].hashes.end(), tokens[g]->hashes.begin(), tokens[g]->hashes.end());
            groups[g].starts.push_back(static_cast<i64>(groups[g].hashes.size()));
        }
        end_message(message.skipped, message.attached);
    }
    // Note what belongs to a message whose tokens were appended.
    void end_message(i64 beyond, i64 of_attachments) {
        skipped.push_back(beyond);
        attached.push_back(of_attachments);
        u64 id = 0;
        for (int g = 0; g < kGroups; ++g)
            for (const u64 *hash = tokens(g, size() - 1), *end = hash + length(g, size() - 1); hash < end; ++hash)
                id += mail::mix(*hash + static_cast<u64>(g) + 1);
        ids.push_back(id);
    }
    // Append one message of another batch.
    void append(const MailTokens& from, i64 row) {
        for (int g = 0; g < kGroups; ++g) {
            const u64* first = from.tokens(g, row);
            groups[g].hashes.insert(groups[g].hashes.end(), first, first + from.length(g, row));
            groups[g].starts.push_back(static_cast<i64>(groups[g].hashes.size()));
        }
        const auto at = static_cast<std::size_t>(row);
        skipped.push_back(from.skipped[at]);
        attached.push_back(from.attached[at]);
        ids.push_back(from.ids[at]);
    }
    const u64* tokens(int g, i64 row) const { return groups[g].hashes.data() + groups[g].starts[static_cast<std::size_t>(row)]; }
    i64 length(int g, i64 row) const {
        return groups[g].starts[static_cast<std::size_t>(row) + 1] - groups[g].starts[static_cast<std::size_t>(row)];
    }
};

mail::Bytes bytes_of(nb::handle object) {
    if (!PyBytes_Check(object.ptr())) refuse_type("message", "bytes", object);
    return {PyBytes_AS_STRING(object.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()))};
}

std::unique_ptr<MailTokens> mail_tokens(nb::sequence messages) {
    nb::tuple held(messages);  // keeps the bytes alive without the lock
    std::vector<mail::Bytes> views;
    for (nb::handle one : held) views.push_back(bytes_of(one));
    auto out = std::make_unique<MailTokens>();
    const nb::gil_scoped_release unlocked;
    mail::Message message;
    for (const mail::Bytes view : views) {
        message.read(view);
        out->add(message);
    }
    return out;
}

// Some messages of some batches: (batch, row) of each.
std::unique_ptr<MailTokens> mail_select(nb::sequence batches, nb::handle which, nb::handle rows) {
    const Buffer of_batches(which, "which"), of_rows(rows, "rows");
    of_batches.need_axes(1);
    of_rows.need_axes(1);
    of_rows.need_length(of_batches.size(0));
    const i64 *batch = of_batches.all<const i64>(Type::i64, "int64"), *row = of_rows.all<const i64>(Type::i64, "int64");
    std::vector<const MailTokens*> from;
    for (nb::handle one : batches) from.push_back(nb::cast<const MailTokens*>(one));
    auto out = std::make_unique<MailTokens>();
    for (i64 k = 0; k < of_rows.size(0); ++k) {
        if (batch[k] < 0 || batch[k] >= static_cast<i64>(from.size())) refuse("which", "batches that there are", std::to_string(batch[k]));
        const MailTokens& one = *from[static_cast<std::size_t>(batch[k])];
        if (row[k] < 0 || row[k] >= one.size()) refuse("rows", "messages that there are", std::to_string(row[k]));
        out->append(one, row[k]);
    }
    return out;
}

// One message by its tokens: the sorted hashes of header and body.
std::unique_ptr<MailTokens> mail_message(nb::handle header, nb::handle body) {
    auto out = std::make_unique<MailTokens>();
    const nb::handle given[] = {header, body};
    for (int g = 0; g < kGroups; ++g) {
        const Buffer buffer(given[g], "hashes");
        buffer.need_axes(1);
        const i64* hashes = buffer.all<const i64>(Type::i64, "int64");
        auto& group = out->groups[g];
        for (i64 k = 0; k < buffer.size(0); ++k) {
            const u64 hash = static_cast<u64>(hashes[k]);
            if (k > 0 && hash <= group.hashes.back()) refuse("hashes", "numbers that rise, as unsigned ones", std::to_string(hashes[k]));
            group.hashes.push_back(hash);
        }
        group.starts.push_back(buffer.size(0));
    }
    out->end_message(0, 0);
    return out;
}

nb::tuple mail_read(nb::handle given) {
    const mail::Bytes view = bytes_of(given);
    mail::Message message;
    message.header.readable = message.body.readable = true;
    message.read(view);
    nb::list groups;
    for (const mail::Tokens* tokens : {&message.header, &message.body}) {
        nb::list texts;
        for (const std::string& text : tokens->texts) texts.append(nb::bytes(text.data(), text.size()));
        groups.append(nb::make_tuple(texts, copied(tokens->hashes)));
    }
    return nb::make_tuple(groups[0], groups[1], message.skipped, message.attached);
}

class MailCounts {
public:
    explicit MailCounts(i64 n_classes)
        : tables_{mail::Table(check(n_classes)), mail::Table(n_classes)}, totals_(static_cast<std::size_t>(n_classes)) {}

    i64 n_classes() const { return tables_[0].n_classes(); }
    i64 size(int g) const { return tables_[checked(g)].size(); }

    // Add messages, each to its class.
    void add(const MailTokens& tokens, nb::handle classes) {
        const Buffer buffer(classes, "classes");
        const i32* codes = codes_of(buffer, tokens.size(), 0);
        const nb::gil_scoped_release unlocked;
        const std::unique_lock alone(lock_);
        for (i64 row = 0; row < tokens.size(); ++row) change(tokens, row, codes[row], false);
    }

    // Take messages away; `strict`: only if each token has them. Return the first message that was never there, after
    // which nothing has changed, or −1.
    i64 subtract(const MailTokens& tokens, nb::handle classes, bool strict) {
        const Buffer buffer(classes, "classes");
        const i32* codes = codes_of(buffer, tokens.size(), 0);
        const nb::gil_scoped_release unlocked;
        const std::unique_lock alone(lock_);
        for (i64 row = 0; row < tokens.size(); ++row) {
            if (totals_[static_cast<std::size_t>(codes[row])] == 0 || (strict && !has(tokens, row, codes[row]))) {
                for (i64 back = 0; back < row; ++back) change(tokens, back, codes[back], false);
                return row;
            }
            change(tokens, row, codes[row], true);
        }
        return -1;
    }

    // Return the scores (n, C) of messages, each left out of its class `own`, and the messages of each class (C,).
    nb::tuple score(const MailTokens& tokens, nb::handle own) const {
        std::unique_ptr<Buffer> left_out;
        const i32* codes = nullptr;
        if (!own.is_none()) {
            left_out = std::make_unique<Buffer>(own, "own");
            codes = codes_of(*left_out, tokens.size(), -1);
        }
        static const mail::Logs logs;
        Growing<double> out;
        Growing<i64> totals;
        {
            const nb::gil_scoped_release unlocked;
            const std::shared_lock together(lock_);
            const i64 C = n_classes();
            out.resize(tokens.size() * C);
            std::fill_n(out.data(), out.size(), 0.0);
            totals.resize(C);
            std::copy_n(totals_.data(), C, totals.data());
            std::vector<mail::Scorer> scorers;  // by the class left out, none first
            for (i64 c = -1; c < (codes != nullptr ? C : 0); ++c) scorers.emplace_back(totals_.data(), C, c);
            for (i64 row = 0; row < tokens.size(); ++row) {
                mail::Scorer& scorer = scorers[static_cast<std::size_t>(codes != nullptr ? codes[row] + 1 : 0)];
                for (int g = 0; g < kGroups; ++g)
                    scorer.add(tables_[g], tokens.tokens(g, row), tokens.length(g, row), logs, out.data() + row * C);
            }
        }
        return nb::make_tuple(give(out), give(totals));
    }

    nb::object totals() const {
        const std::shared_lock together(lock_);
        return copied(totals_);
    }

    // The counts (n, C) of tokens.
    nb::object find(int g, nb::handle hashes) const {
        const Buffer buffer(hashes, "hashes");
        buffer.need_axes(1);
        const i64* keys = buffer.all<const i64>(Type::i64, "int64");
        const std::shared_lock together(lock_);
        Growing<i64> out(buffer.size(0) * n_classes());
        for (i64 k = 0; k < buffer.size(0); ++k) {
            const u32* counts = tables_[checked(g)].find(static_cast<u64>(keys[k]));
            for (i64 c = 0; c < n_classes(); ++c) out[k * n_classes() + c] = counts == nullptr ? 0 : counts[c];
        }
        return give(out);
    }

    // The tokens of a group sorted by hash, and their counts as a sparsity pattern.
    nb::tuple items(int g) const {
        Growing<i64> keys, starts, values;
        Growing<i32> classes;
        list(tables_[checked(g)], keys, starts, classes, values);
        return nb::make_tuple(give(keys), give(starts), give(classes), give(values));
    }

    // Add tokens as `items` has them.
    void load(int g, nb::handle keys, nb::handle starts, nb::handle classes, nb::handle values) {
        const Buffer of_tokens(keys, "keys"), bounds(starts, "starts"), codes(classes, "classes"), counts(values, "values");
        for (const Buffer* one : {&of_tokens, &bounds, &codes, &counts}) one->need_axes(1);
        bounds.need_length(of_tokens.size(0) + 1);
        counts.need_length(codes.size(0));
        const i64 *token = of_tokens.all<const i64>(Type::i64, "int64"), *start = bounds.all<const i64>(Type::i64, "int64");
        const i32* c = codes.all<const i32>(Type::i32, "int32");
        const i64* value = counts.all<const i64>(Type::i64, "int64");
        for (i64 k = 0; k < codes.size(0); ++k) {
            if (c[k] < 0 || c[k] >= n_classes()) refuse("classes", "numbers from 0 to n_classes - 1", std::to_string(c[k]));
            if (value[k] <= 0 || value[k] > kMost) refuse("values", "counts from 1 to 2^31", std::to_string(value[k]));
        }
        for (i64 k = 0; k < of_tokens.size(0); ++k)
            if (start[k] < 0 || start[k] > start[k + 1] || start[k + 1] > codes.size(0)) refuse("starts", "bounds that rise", "others");
        const nb::gil_scoped_release unlocked;
        const std::unique_lock alone(lock_);
        tables_[checked(g)].reserve(of_tokens.size(0));
        for (i64 k = 0; k < of_tokens.size(0); ++k)
            for (i64 e = start[k]; e < start[k + 1]; ++e) tables_[checked(g)].add(static_cast<u64>(token[k]), c[e], static_cast<u32>(value[e]));
    }

    // Add messages to classes, beside their tokens.
    void load_totals(nb::handle messages) {
        const Buffer buffer(messages, "messages");
        buffer.need_axes(1);
        buffer.need_length(n_classes());
        const i64* n = buffer.all<const i64>(Type::i64, "int64");
        const std::unique_lock alone(lock_);
        for (i64 c = 0; c < n_classes(); ++c) {
            if (n[c] < 0 || n[c] > kMost) refuse("messages", "counts from 0 to 2^31", std::to_string(n[c]));
            totals_[static_cast<std::size_t>(c)] += n[c];
        }
    }

    // Add classes, which have no message yet, after the others.
    void extend(i64 n) {
        const std::unique_lock alone(lock_);
        check(n);
        if (n <= n_classes()) return;
        for (mail::Table& table : tables_) table.rebuild(n, [](i64, const u32*) { return true; });
        totals_.resize(static_cast<std::size_t>(n));
    }

    // Keep the tokens of both groups that most messages have; of two as frequent the one with the smaller hash.
    // Return how many were dropped.
    i64 keep_most_frequent(i64 most) {
        const nb::gil_scoped_release unlocked;
        const std::unique_lock alone(lock_);
        const i64 all = tables_[0].size() + tables_[1].size();
        if (all <= most) return 0;
        std::vector<Rank> ranks;
        ranks.reserve(static_cast<std::size_t>(all));
        for (int g = 0; g < kGroups; ++g)
            tables_[g].each([&](i64 key, const u32* counts) { ranks.push_back(rank(key, counts, g)); });
        std::nth_element(ranks.begin(), ranks.begin() + most, ranks.end());
        const Rank first_dropped = ranks[static_cast<std::size_t>(most)];
        std::vector<Rank>().swap(ranks);
        for (int g = 0; g < kGroups; ++g)
            tables_[g].rebuild(n_classes(), [&](i64 key, const u32* counts) { return rank(key, counts, g) < first_dropped; });
        return all - most;
    }

private:
    static constexpr i64 kMost = i64{1} << 31;
    using Rank = std::pair<i64, std::pair<i64, int>>;  // fewer messages come later

    static i64 check(i64 n_classes) {
        if (n_classes < 0 || n_classes > 1000) refuse("n_classes", "a number from 0 to 1000", std::to_string(n_classes));
        return n_classes;
    }
    static int checked(int g) {
        if (g < 0 || g >= kGroups) refuse("group", "0 or 1", std::to_string(g));
        return g;
    }
    Rank rank(i64 key, const u32* counts, int g) const {
        i64 all = 0;
        for (i64 c = 0; c < n_classes(); ++c) all += counts[c];
        return {-all, {key, g}};
    }
    const i32* codes_of(const Buffer& buffer, i64 n, i32 least) const {
        buffer.need_axes(1);
        buffer.need_length(n);
        const i32* codes = buffer.all<const i32>(Type::i32, "int32");
        for (i64 k = 0; k < n; ++k)
            if (codes[k] < least || codes[k] >= n_classes()) refuse("classes", "numbers from 0 to n_classes - 1", std::to_string(codes[k]));
        return codes;
    }
    void list(const mail::Table& table, Growing<i64>& keys, Growing<i64>& starts, Growing<i32>& classes, Growing<i64>& values) const {
        const nb::gil_scoped_release unlocked;  // of a million tokens this takes a while, and others classify
        const std::shared_lock together(lock_);
        keys.resize(table.size());
        starts.resize(table.size() + 1);
        i64 n = 0;
        table.each([&](i64 key, const u32*) { keys[n++] = key; });
        std::sort(keys.data(), keys.data() + n);
        starts[0] = 0;
        for (i64 k = 0; k < n; ++k) {
            const u32* counts = table.find(static_cast<u64>(keys[k]));
            for (i64 c = 0; c < n_classes(); ++c) {
                if (counts[c] == 0) continue;
                classes.push(static_cast<i32>(c));
                values.push(counts[c]);
            }
            starts[k + 1] = classes.size();
        }
    }
    bool has(const MailTokens& tokens, i64 row, i32 c) const {
        for (int g = 0; g < kGroups; ++g) {
            const u64* hashes = tokens.tokens(g, row);
            tables_[g].prefetch(hashes, tokens.length(g, row));
            for (i64 k = 0; k < tokens.length(g, row); ++k) {
                const u32* counts = tables_[g].find(hashes[k]);
                if (counts == nullptr || counts[c] == 0) return false;
            }
        }
        return true;
    }
    void change(const MailTokens& tokens, i64 row, i32 c, bool minus) {
        totals_[static_cast<std::size_t>(c)] += minus ? -1 : 1;
        for (int g = 0; g < kGroups; ++g) {
            const u64* hashes = tokens.tokens(g, row);
            tables_[g].prefetch(hashes, tokens.length(g, row));
            for (i64 k = 0; k < tokens.length(g, row); ++k) {
                if (!minus) {
                    tables_[g].add(hashes[k], c, 1);
                } else {
                    const u32* counts = tables_[g].find(hashes[k]);
                    if (counts != nullptr && counts[c] > 0) tables_[g].subtract(hashes[k], c);
                }
            }
        }
    }

    mail::Table tables_[kGroups];
    std::vector<i64> totals_;  // messages of each class
    mutable std::shared_mutex lock_;
};

// Give freed memory back to the system. The C library keeps what reading and writing a filter took for a moment, which
// is more than the filter takes.
void release_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace

void bind_mail(nb::module_& m) {
    nb::class_<MailTokens>(m, "MailTokens")
        .def("__len__", &MailTokens::size)
        .def("group", [](const MailTokens& tokens, int g) {
            if (g < 0 || g >= kGroups) refuse("group", "0 or 1", std::to_string(g));
            return nb::make_tuple(copied(tokens.groups[g].starts), copied(tokens.groups[g].hashes));
        })
        .def("ids", [](const MailTokens& tokens) { return copied(tokens.ids); })
        .def("left_out", [](const MailTokens& tokens) { return nb::make_tuple(copied(tokens.skipped), copied(tokens.attached)); });
    nb::class_<MailCounts>(m, "MailCounts")
        .def(nb::init<i64>())
        .def("size", &MailCounts::size)
        .def("add", &MailCounts::add)
        .def("subtract", &MailCounts::subtract)
        .def("score", &MailCounts::score, nb::arg(), nb::arg().none())
        .def("totals", &MailCounts::totals)
        .def("load_totals", &MailCounts::load_totals)
        .def("find", &MailCounts::find)
        .def("items", &MailCounts::items)
        .def("load", &MailCounts::load)
        .def("extend", &MailCounts::extend)
        .def("keep_most_frequent", &MailCounts::keep_most_frequent);
    m.def("mail_tokens", &mail_tokens);
    m.def("mail_message", &mail_message);
    m.def("mail_read", &mail_read);
    m.def("mail_select", &mail_select);
    m.def("release_memory", &release_memory);
}

}  // namespace tally
