// The reading of mail under libFuzzer: any bytes as a message. Its tokens must be sorted and distinct, and the same with
// and without their texts, and after another message.
#include <cstdint>
#include <cstdlib>

#include "mail/message.hpp"

using namespace tally::mail;

namespace {

void check(const Tokens& tokens, const Tokens& again) {
    if (tokens.hashes != again.hashes || again.texts.size() != again.hashes.size()) std::abort();
    for (std::size_t k = 1; k < tokens.hashes.size(); ++k)
        if (tokens.hashes[k - 1] >= tokens.hashes[k]) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(reinterpret_cast<const char*>(data), size);
    Message message, readable;
    readable.header.readable = readable.body.readable = true;
    readable.read(bytes.substr(size / 2));
    message.read(bytes);
    readable.read(bytes);
    check(message.header, readable.header);
    check(message.body, readable.body);
    if (message.skipped < 0 || message.attached < 0 || message.attached > static_cast<i64>(size)) std::abort();
    return 0;
}
