// Python bindings of the text kernels. kernels/text.py is the only caller: it unpacks columns and prepares documents.
#include "bind/give.hpp"
#include "text/count.hpp"
#include "text/hash.hpp"
#include "text/merge.hpp"
#include "text/score.hpp"
#include "text/vectors.hpp"

namespace tally {

namespace {

using text::Growing;
using text::i32;
using text::i64;
using tally::give;

// A buffer of bytes, or None.
class Bytes {
public:
    Bytes(nb::handle object, const char* name) {
        if (object.is_none()) return;
        const Buffer& buffer = buffers_.emplace_back(object, name);
        buffer.need_axes(1);
        buffer.need_type(buffer.type() == Type::i8 || buffer.type() == Type::u8, "bytes");
        buffer.need_contiguous();
        data = buffer.base();
        size = buffer.size(0);
    }
    const char* data = nullptr;
    i64 size = 0;

private:
    std::vector<Buffer> buffers_;
};

// (validity, offsets, data, first, n, wide, patch), where patch is None or (rows, offsets, data).
class ColumnBuffer {
public:
    explicit ColumnBuffer(const nb::tuple& parts)
        : validity_(need(parts)[0], "validity"), offsets_(parts[1], "offsets"), data_(parts[2], "data") {
        view.first = nb::cast<i64>(parts[3]);
        view.n = nb::cast<i64>(parts[4]);
        view.wide = nb::cast<bool>(parts[5]);
        constexpr i64 kMost = 0xFFFFFFFE;  // row stamps have 32 bits
        if (view.first < 0 || view.first > (i64{1} << 58)) refuse("column", "an offset not below 0", "another");
        if (view.n < 0 || view.n > kMost) refuse("column", "fewer than 2^32 - 1 rows", std::to_string(view.n));
        const i64 end = view.first + view.n, width = view.wide ? 8 : 4;
        if (view.n > 0 && offsets_.size / width < end + 1) refuse("column", "offsets for every row", "fewer");
        if (validity_.data != nullptr && validity_.size < (end + 7) / 8)
            refuse("column", "validity for every row", "less");
        view.validity = reinterpret_cast<const std::uint8_t*>(validity_.data);
        view.offsets = offsets_.data;
        view.data = data_.data;
        view.size = data_.size;
        if (!parts[6].is_none()) patch(nb::cast<nb::tuple>(parts[6]));
    }
    text::Column view;

private:
    static const nb::tuple& need(const nb::tuple& parts) {
        if (parts.size() != 7) refuse("column", "7 parts", std::to_string(parts.size()));
        return parts;
    }
    void patch(const nb::tuple& parts) {
        if (parts.size() != 3) refuse("patch", "3 parts", std::to_string(parts.size()));
        const Buffer& rows = held_.emplace_back(parts[0], "rows");
        view.patch_rows = rows.all<const i64>(Type::i64, "int64");
        view.n_patches = rows.size(0);
        const Buffer& offsets = held_.emplace_back(parts[1], "offsets");
        view.patch_offsets = offsets.all<const i64>(Type::i64, "int64");
        const Bytes& data = patched_.emplace_back(parts[2], "data");
        view.patch_data = data.data;
        const i64* o = view.patch_offsets;
        if (offsets.size(0) != view.n_patches + 1) refuse("patch", "offsets for every row", "others");
        for (i64 k = 0; k < view.n_patches; ++k)
            if (o[k] < 0 || o[k + 1] < o[k] || o[k + 1] > data.size)
                refuse("patch", "offsets within the data", "others");
    }

    Bytes validity_, offsets_, data_;
    std::vector<Buffer> held_;
    std::vector<Bytes> patched_;
};

// (lowercase, analyzer, min_n, max_n, stop words as bytes)
class OptionParts {
public:
    explicit OptionParts(const nb::tuple& parts) {
        if (parts.size() != 5) refuse("options", "5 parts", std::to_string(parts.size()));
        options.lowercase = nb::cast<bool>(parts[0]);
        const auto analyzer = nb::cast<i64>(parts[1]);
        options.min_n = nb::cast<i64>(parts[2]);
        options.max_n = nb::cast<i64>(parts[3]);
        if (analyzer < 0 || analyzer > 2) refuse("analyzer", "0, 1 or 2", std::to_string(analyzer));
        options.analyzer = static_cast<text::Analyzer>(analyzer);
        const i64 most = analyzer == 0 ? 16 : i64{1} << 40;
        if (options.min_n < 1 || options.max_n < options.min_n || options.max_n > most)
            refuse("ngram_range", "1 <= min_n <= max_n, for words at most 16", "another");
        words_ = nb::cast<nb::tuple>(parts[4]);
        for (const nb::handle word : words_) {
            const Bytes& bytes = bytes_.emplace_back(word, "stop_words");
            stop_words.push_back(text::token_of(bytes.data, bytes.size));
        }
    }
    text::Options options;
    std::vector<text::Token> stop_words;

private:
    nb::tuple words_;
    std::vector<Bytes> bytes_;  // long tokens point into them
};

const text::Characters* characters_of(nb::handle object) {
    return object.is_none() ? nullptr : nb::cast<const text::Characters*>(object);
}

// Run without the interpreter lock, and raise the kernel's fault as a Python exception.
template <class Run>
void unlocked(Run run) {
    try {
        const nb::gil_scoped_release unlocked;
        run();
    } catch (const text::BadText& fault) {
        const nb::object type = nb::module_::import_("tallybayes.kernels.text_types").attr("BadText");
        PyErr_SetObject(type.ptr(), type(fault.row, fault.byte).ptr());
        throw nb::python_error();
    } catch (const text::BadColumn& fault) {
        refuse("column", "offsets that increase and stay within the data", "others, row " + std::to_string(fault.row));
    } catch (const text::TooMany&) {
        refuse("column", "fewer than 2^31 - 1 distinct tokens", "more");
    } catch (const text::Duplicate& fault) {
        refuse("vocabulary", "distinct tokens", "one twice, row " + std::to_string(fault.row));
    } catch (const text::NotSorted& fault) {
        refuse(fault.left ? "left" : "right", "distinct tokens in order", "others, row " + std::to_string(fault.row));
    }
}

nb::tuple give(text::Strings& strings) { return nb::make_tuple(give(strings.offsets), give(strings.bytes)); }

text::Characters* make_characters(nb::handle word, nb::handle space, nb::handle lower, nb::handle many,
                                  nb::handle starts) {
    const Bytes words(word, "word"), spaces(space, "space");
    const Buffer lowers(lower, "lower"), characters(many, "many"), bounds(starts, "starts");
    const auto* to = lowers.all<const i32>(Type::i32, "int32");
    const auto* all = characters.all<const i32>(Type::i32, "int32");
    const auto* at = bounds.all<const i64>(Type::i64, "int64");
    constexpr i64 n = text::kCharacters;
    const i64 n_many = characters.size(0), n_starts = bounds.size(0);
    const auto is_character = [](i32 c) { return c >= 0 && c < n; };
    bool good = words.size == n && spaces.size == n && lowers.size(0) == n && n_starts > 0;
    for (i64 c = 0; good && c < n; ++c) good = to[c] < n && to[c] > -n_starts;
    for (i64 k = 0; good && k < n_many; ++k) good = is_character(all[k]);
    for (i64 k = 0; good && k < n_starts; ++k) good = at[k] >= (k > 0 ? at[k - 1] : 0) && at[k] <= n_many;
    if (!good) refuse("characters", "an entry for every character", "others");
    return new text::Characters(reinterpret_cast<const std::uint8_t*>(words.data),
                                reinterpret_cast<const std::uint8_t*>(spaces.data), to, {all, all + n_many},
                                {at, at + n_starts});
}

nb::tuple survey(const nb::tuple& column, i64 prepare) {
    const ColumnBuffer documents(column);
    Growing<i64> rows;
    bool plain = false;
    unlocked([&] { plain = text::survey(documents.view, static_cast<text::Prepare>(prepare), rows); });
    return nb::make_tuple(plain, give(rows));
}

nb::tuple count(const nb::tuple& column, nb::handle characters, const nb::tuple& options, nb::handle classes,
                i64 n_classes, i64 spill) {
    const ColumnBuffer documents(column);
    const OptionParts parts(options);
    const ClassBuffer codes(classes);
    codes.need_length(documents.view.n);
    need_count(n_classes, "n_classes");
    for (i64 i = 0; i < documents.view.n; ++i)
        if (codes.data[i] < 0 || codes.data[i] >= n_classes)
            refuse("classes", "numbers from 0 to n_classes - 1",
                   std::to_string(codes.data[i]) + ", row " + std::to_string(i));
    const text::Characters* kinds = characters_of(characters);
    Growing<i64> missing;
    text::Strings strings;
    text::Entries entries;
    unlocked([&] {
        text::Counter counter(parts.options, parts.stop_words, codes.data, n_classes, spill);
        counter.run(documents.view, parts.options, kinds);
        text::Order order(counter.vocabulary(), counter.first());
        strings = std::move(order.strings);
        counter.write(order, entries);
        missing = std::move(counter.missing);
    });
    return nb::make_tuple(give(strings), give(entries.starts), give(entries.classes), give(entries.tokens),
                          give(entries.documents), give(missing));
}

text::Lookup* make_lookup(const nb::tuple& vocabulary, const nb::tuple& options) {
    const ColumnBuffer tokens(vocabulary);
    const OptionParts parts(options);
    need_count(tokens.view.n, "vocabulary");
    text::Lookup* lookup = nullptr;
    unlocked([&] { lookup = new text::Lookup(tokens.view, parts.options, parts.stop_words); });
    return lookup;
}

nb::object score(const text::Lookup& lookup, const nb::tuple& column, nb::handle characters, nb::handle table,
                 nb::handle out, nb::handle unknown, bool distinct) {
    const ColumnBuffer documents(column);
    const Matrix scores(out, "out", documents.view.n, -1, true);
    const i64 C = scores.size(1);
    const Matrix rows(table, "table", lookup.n_tokens, C);
    std::vector<Buffer> held;
    const double* other = nullptr;
    if (!unknown.is_none()) {
        const Buffer& buffer = held.emplace_back(unknown, "unknown");
        buffer.need_axes(1);
        buffer.need_length(C);
        other = buffer.all<const double>(Type::f64, "float64");
    }
    const text::Characters* kinds = characters_of(characters);
    Growing<i64> lengths(documents.view.n);
    const text::ScoreTask task{&lookup, rows.data, other, C, scores.data, lengths.data(), kernels().sum_rows};
    unlocked([&] { text::score(documents.view, kinds, task, distinct); });
    return give(lengths);
}

nb::tuple give(text::Matrix& matrix) {
    return nb::make_tuple(give(matrix.indptr), give(matrix.indices), give(matrix.data), give(matrix.unknown));
}

nb::tuple learn_vectors(const nb::tuple& column, nb::handle characters, const nb::tuple& options) {
    const ColumnBuffer documents(column);
    const OptionParts parts(options);
    const text::Characters* kinds = characters_of(characters);
    text::Matrix matrix(documents.view.n);
    text::Strings strings;
    unlocked([&] {
        strings = text::learn_vectors(documents.view, parts.options, parts.stop_words, kinds, matrix);
    });
    return nb::make_tuple(give(strings), give(matrix));
}

nb::tuple find_vectors(const nb::tuple& column, nb::handle characters, const text::Lookup& lookup) {
    const ColumnBuffer documents(column);
    const text::Characters* kinds = characters_of(characters);
    text::Matrix matrix(documents.view.n);
    unlocked([&] { text::find_vectors(documents.view, lookup, kinds, matrix); });
    return give(matrix);
}

nb::tuple merge(const nb::tuple& left, const nb::tuple& right) {
    const ColumnBuffer a(left), b(right);
    Growing<i64> places_left, places_right;
    text::Strings strings;
    unlocked([&] { strings = text::merge(a.view, b.view, places_left, places_right); });
    return nb::make_tuple(give(strings), give(places_left), give(places_right));
}

void hash_texts(const nb::tuple& column, i64 seed, nb::handle out) {
    const ColumnBuffer documents(column);
    const Buffer to(out, "out", true);
    to.need_axes(1);
    to.need_length(documents.view.n);
    auto* sums = reinterpret_cast<text::u64*>(to.all<i64>(Type::i64, "int64"));
    unlocked([&] { text::hash_texts(documents.view, static_cast<text::u64>(seed), sums); });
}

}  // namespace

void bind_text(nb::module_& m) {
    // A Lookup may live until the process ends; that is not a leak to report.
    nb::set_leak_warnings(false);
    // Python's own string hash is seeded at random (PYTHONHASHSEED fixes it).
    text::secret[0] ^= static_cast<text::u64>(nb::hash(nb::str("tallybayes")));
    text::secret[1] ^= static_cast<text::u64>(nb::hash(nb::str("text kernels"))) * 0x9E3779B97F4A7C15u;
    nb::class_<text::Characters>(m, "TextCharacters");
    nb::class_<text::Lookup>(m, "TextLookup");
    m.def("text_characters", &make_characters, nb::rv_policy::take_ownership);
    m.def("text_survey", &survey);
    m.def("text_count", &count, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    m.def("text_lookup", &make_lookup, nb::rv_policy::take_ownership);
    m.def("text_score", &score, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
          nb::arg());
    m.def("text_learn_vectors", &learn_vectors, nb::arg(), nb::arg().none(), nb::arg());
    m.def("text_find_vectors", &find_vectors, nb::arg(), nb::arg().none(), nb::arg());
    m.def("text_merge", &merge);
    m.def("hash_texts", &hash_texts);
}

}  // namespace tally
