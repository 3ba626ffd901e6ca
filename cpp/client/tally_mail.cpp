// tally-mail: a client of the mail daemon (`tally mail serve`), for deliveries that cannot wait for Python.
//
// It sends a line and the message from standard input to a Unix socket, and prints the answer. src/tallybayes/mail/
// daemon.py has the protocol. No mail is lost: `filter` prints either the whole answer or the message as it came.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::string;
using std::string_view;

constexpr int kError = 3;
constexpr std::size_t kLongestLine = 64;  // of an answer: a status and a length
constexpr std::size_t kMostGrowth = 64 << 10;  // bytes that an answer to `filter` has beyond the message: one field

constexpr char kUsage[] =
    "Usage: tally-mail [--socket PATH] [--timeout SECONDS] [--never-fail] COMMAND < MESSAGE\n"
    "\n"
    "Ask the daemon that 'tally mail serve' runs.\n"
    "\n"
    "  classify        print the class and the probabilities\n"
    "  filter          copy the message, with the field X-Tally added\n"
    "  explain         print the tokens that decided\n"
    "  learn CLASS     learn the message\n"
    "  forget CLASS    forget the message\n"
    "  move FROM TO    forget it in one class, learn it in another\n"
    "  ping            print what the daemon serves; reads no message\n"
    "\n"
    "  --socket PATH      by default $TALLY_MAIL_SOCKET, or tally-mail.sock in $XDG_RUNTIME_DIR\n"
    "  --timeout SECONDS  how long to wait for the daemon, all in all (10)\n"
    "  --never-fail       exit with 0 after a failure of 'filter', which copies the message unchanged\n"
    "\n"
    "Exit codes of classify and explain: 0 spam, 1 any other class, 2 unsure, 3 error; of the others 0 or 3.\n";

struct Options {
    string socket;
    double seconds = 10;
    std::vector<string> command;  // a verb and its classes
};

struct Answer {
    int status;
    string content;
};

[[noreturn]] void fail(const string& sentence) { throw std::runtime_error(sentence); }
[[noreturn]] void fail_system(const string& where, const string& wanted) {
    fail(where + ": wanted " + wanted + ", got " + std::strerror(errno) + ".");
}

string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// A socket with a deadline for all that is done with it.
class Connection {
public:
    Connection(const string& path, double seconds)
        : where_("socket '" + path + "'"), end_(Clock::now() + std::chrono::microseconds(static_cast<long long>(seconds * 1e6))) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.empty() || path.size() >= sizeof address.sun_path) fail(where_ + ": wanted a path of up to 107 bytes, got " + std::to_string(path.size()) + ".");
        std::memcpy(address.sun_path, path.data(), path.size());
        socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
        if (socket_ < 0) fail_system(where_, "a socket");
        ::fcntl(socket_, F_SETFL, O_NONBLOCK);
        ::fcntl(socket_, F_SETFD, FD_CLOEXEC);
        while (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            if (errno == EISCONN) break;
            if (errno == EAGAIN) {  // its queue of connections is full
                need_time();
                ::usleep(2000);
            } else if (errno == EINPROGRESS || errno == EALREADY) {
                wait(POLLOUT);
            } else if (errno != EINTR) {
                fail_system(where_, "a daemon ('tally mail serve')");
            }
        }
    }
    ~Connection() {
        if (socket_ >= 0) ::close(socket_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Send all; if the daemon stops reading, what it has to say is in its answer.
    void send(string_view content) {
        while (!content.empty()) {
            const ssize_t n = ::send(socket_, content.data(), content.size(), kNoSignal);
            if (n >= 0) content.remove_prefix(static_cast<std::size_t>(n));
            else if (errno == EAGAIN || errno == EWOULDBLOCK) wait(POLLOUT);
            else if (errno == EPIPE || errno == ECONNRESET) return;
            else if (errno != EINTR) fail_system(where_, "a daemon that reads");
        }
    }

    // Read the line "STATUS LENGTH" and that many bytes, at most `most`.
    Answer receive(std::size_t most) {
        string got;
        std::size_t end;
        while ((end = got.find('\n')) == string::npos) {
            if (got.size() > kLongestLine) fail_protocol();
            if (!more(got)) fail(where_ + ": wanted an answer, got none.");
        }
        int status = kError;
        unsigned long long length = 0;
        char after = 0;
        const string line = got.substr(0, end);
        if (std::sscanf(line.c_str(), "%1d %19llu%c", &status, &length, &after) != 2 || status < 0 || status > kError) fail_protocol();
        if (status != kError && length > most) fail_protocol();
        if (status == kError && length > kMostGrowth) fail_protocol();
        got.erase(0, end + 1);
        while (got.size() < length && more(got)) {}
        if (got.size() != length)
            fail(where_ + ": wanted an answer of " + std::to_string(length) + " bytes, got " + std::to_string(got.size()) + ".");
        return {status, std::move(got)};
    }

private:
#ifdef MSG_NOSIGNAL
    static constexpr int kNoSignal = MSG_NOSIGNAL;
#else
    static constexpr int kNoSignal = 0;  // SIGPIPE is ignored
#endif

    [[noreturn]] void fail_protocol() const { fail(where_ + ": wanted an answer of a mail daemon, got something else."); }

    int need_time() const {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
        if (left <= 0) fail(where_ + ": wanted an answer in time, got none.");
        return static_cast<int>(left < 1'000'000 ? left : 1'000'000);
    }
    void wait(short events) const {
        pollfd one{socket_, events, 0};
        if (::poll(&one, 1, need_time()) < 0 && errno != EINTR) fail_system(where_, "to wait");
    }
    bool more(string& got) const {
        char part[1 << 16];
        while (true) {
            const ssize_t n = ::recv(socket_, part, sizeof part, 0);
            if (n > 0) got.append(part, static_cast<std::size_t>(n));
            if (n >= 0) return n > 0;
            if (errno == EAGAIN || errno == EWOULDBLOCK) wait(POLLIN);
            else if (errno == ECONNRESET) return false;
            else if (errno != EINTR) fail_system(where_, "an answer");
        }
    }

    string where_;
    Clock::time_point end_;
    int socket_ = -1;
};

bool read_all(int file, string& content) {
    char part[1 << 16];
    while (true) {
        const ssize_t n = ::read(file, part, sizeof part);
        if (n > 0) content.append(part, static_cast<std::size_t>(n));
        else if (n == 0) return true;
        else if (errno != EINTR) return false;
    }
}

bool write_all(int file, string_view content) {
    while (!content.empty()) {
        const ssize_t n = ::write(file, content.data(), content.size());
        if (n >= 0) content.remove_prefix(static_cast<std::size_t>(n));
        else if (errno != EINTR) return false;
    }
    return true;
}

// The number of classes after a verb; −1 for what is no verb.
int classes_of(string_view verb) {
    for (const string_view none : {"classify", "filter", "explain", "ping"})
        if (verb == none) return 0;
    return verb == "learn" || verb == "forget" ? 1 : verb == "move" ? 2 : -1;
}

Options parse(int count, char** given) {
    Options options;
    for (int k = 1; k < count; ++k) {
        const string word = given[k];
        if (word == "--socket" || word == "--timeout") {
            if (++k == count) fail(word + ": wanted a value, got none.");
            char* end = nullptr;
            if (word == "--socket") options.socket = given[k];
            else if (options.seconds = std::strtod(given[k], &end); *end != 0 || !(options.seconds > 0 && options.seconds < 1e6))
                fail("--timeout: wanted seconds above 0, got '" + string(given[k]) + "'.");
        } else if (word == "--never-fail") {
            continue;
        } else if (word.starts_with("-")) {
            fail(word + ": wanted an option of tally-mail, got another. See tally-mail --help.");
        } else {
            options.command.push_back(word);
        }
    }
    if (options.command.empty() || classes_of(options.command[0]) != static_cast<int>(options.command.size()) - 1)
        fail("command: wanted classify, filter, explain, learn CLASS, forget CLASS, move FROM TO or ping. See tally-mail --help.");
    for (const string& word : options.command)  // the daemon checks classes; here, that the line stays one line
        for (const char c : word)
            if (c <= ' ' || c > '~') fail("class: wanted letters, digits, '.', '_' and '-', got something else.");
    if (options.socket.empty()) options.socket = environment("TALLY_MAIL_SOCKET");
    if (options.socket.empty() && !environment("XDG_RUNTIME_DIR").empty()) options.socket = environment("XDG_RUNTIME_DIR") + "/tally-mail.sock";
    if (options.socket.empty()) fail("--socket: wanted a path, got none. Name one, or set TALLY_MAIL_SOCKET or XDG_RUNTIME_DIR.");
    return options;
}

Answer ask(const Options& options, const string& message) {
    string line;
    for (const string& word : options.command) line += word + " ";
    Connection daemon(options.socket, options.seconds);
    daemon.send(line + std::to_string(message.size()) + "\n");
    daemon.send(message);
    const bool filter = options.command[0] == "filter";
    Answer answer = daemon.receive(filter ? message.size() + kMostGrowth : std::size_t{1} << 30);
    if (answer.status == kError) fail(answer.content);
    return answer;
}

// The command, known even if the options are wrong: then, too, `filter` must not lose the message.
string_view verb_of(int count, char** given) {
    for (int k = 1; k < count; ++k) {
        const string_view word = given[k];
        if (word == "--socket" || word == "--timeout") ++k;
        else if (!word.starts_with("-")) return word;
    }
    return "";
}

bool has(int count, char** given, string_view option) {
    for (int k = 1; k < count; ++k)
        if (given[k] == option) return true;
    return false;
}

// The answer of the daemon; nothing, and a sentence on standard error, if there is none.
std::optional<Answer> try_to_ask(int count, char** given, const string& message) {
    try {
        return ask(parse(count, given), message);
    } catch (const std::exception& error) {
        write_all(STDERR_FILENO, string("tally-mail: ") + error.what() + "\n");
        return {};
    }
}

int run(int count, char** given) {
    if (has(count, given, "--help")) return write_all(STDOUT_FILENO, kUsage) ? 0 : kError;
    const string_view verb = verb_of(count, given);
    string message;
    if (verb != "ping" && !read_all(STDIN_FILENO, message)) {
        std::perror("tally-mail: standard input");
        return kError;  // part of a message is no message
    }
    const std::optional<Answer> answer = try_to_ask(count, given, message);
    if (!answer && verb != "filter") return kError;
    if (!write_all(STDOUT_FILENO, answer ? answer->content : message)) {
        std::perror("tally-mail: standard output");
        return kError;
    }
    return answer ? answer->status : has(count, given, "--never-fail") ? 0 : kError;
}

}  // namespace

int main(int count, char** given) {
    std::signal(SIGPIPE, SIG_IGN);
    return run(count, given);
}
