// The tokeniser under libFuzzer: any bytes as documents. It must throw BadText, or give the same words however the text
// is split into batches, and never more bytes than it read.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "text/words.hpp"

using namespace tally;
using namespace tally::text;

namespace {

struct Counter {
    std::int64_t tokens = 0, rows = 0;
    void operator()(const Batch& batch) {
        tokens += batch.tokens.size();
        for (std::int64_t k = 0; k < batch.segments.size(); ++k) rows += batch.segments.data()[k].done;
    }
};

// Tables of the fuzzer's own: two of three characters beyond ASCII are word characters, and some have a lower case.
const Characters& characters() {
    static const Characters made = [] {
        std::vector<u8> word(kCharacters), space(kCharacters);
        std::vector<i32> lower(kCharacters);
        for (u32 c = 0; c < kCharacters; ++c) {
            const bool ascii = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
            word[c] = c < 128 ? ascii : c % 3 != 0;
            space[c] = c == ' ' || (c >= 9 && c <= 13);
            lower[c] = static_cast<i32>(c >= 'A' && c <= 'Z' ? c + 32 : c >= 0xC0 && c < 0xDE ? c + 32 : c);
        }
        lower[0x130] = -1;  // one character with a lower case of two
        return Characters(word.data(), space.data(), lower.data(), {0x69, 0x307}, {0, 2});
    }();
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    Options options;
    options.lowercase = data[0] % 2 != 0;
    std::vector<std::int32_t> offsets{0};
    std::vector<char> text;
    for (std::size_t at = 1; at < size; ++at) {  // a zero byte ends a document
        if (data[at] != 0) text.push_back(static_cast<char>(data[at]));
        else offsets.push_back(static_cast<std::int32_t>(text.size()));
    }
    offsets.push_back(static_cast<std::int32_t>(text.size()));
    Column column;
    column.offsets = reinterpret_cast<const char*>(offsets.data());
    column.n = static_cast<std::int64_t>(offsets.size()) - 1;
    column.data = text.data();
    column.size = static_cast<std::int64_t>(text.size());
    Counter counter;
    try {
        WordScanner<Counter>(column, options, &characters(), counter).scan();
    } catch (const BadText&) {
        return 0;
    }
    if (counter.rows != column.n || counter.tokens > column.size) std::abort();
    return 0;
}
