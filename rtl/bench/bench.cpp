// The test bench of designs with the LWC hardware API: it drives pdi and sdi, checks do, and counts cycles.
//
// It is compiled with the model that Verilator makes of a design, or of a netlist of it, and with ports.h, which says
// what the design's ports are called and how wide they are (src/steelyard/rtl/bench.py writes both).
//
//     bench VECTORS MODE... [--seed N] [--idle CYCLES] [--trace FILE]
//
// VECTORS is text, a line for each part of an operation:
//
//     op NAME [reuse]      one operation; reuse: it needs the key of the operation before it
//     s WORD...            what sdi is given, in hexadecimal digits
//     p WORD...            what pdi is given
//     d WORD...            what do must give; x stands for a digit that may be anything
//
// Modes:
//
//     full       all operations without a pause: every word is offered at once, and taken at once
//     single     one operation at a time; cycles of each are told
//     toggles    as single, with inputs that hold still while they are not valid; bits that changed are told too
//     stall      every port pauses at random, and what is offered stays until it is taken
//     withdraw   do_ready is withdrawn when do_valid comes, inputs come where they were not waited for
//     reset      every operation is interrupted by a reset at a random cycle, and then made as a whole
//
// Toggles are of all traced signals, at the end of each cycle: what glitches, and the clock, is not in them.
//
// Each mode answers with one line of JSON. The exit code is 0 when all outcomes are "ok", else 1, 2 for wrong usage.
// What the design prints goes nowhere, and it cannot end the simulation: an operation in which it tries fails.
//
// Cycles of an operation (GMU's convention): those from the first in which a word of pdi is offered to the one in which
// the status is taken, the difference of their numbers. Nothing waits for the test bench.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "ports.h" // before the model: it includes the model's header, Model, and the macros SY_*
#include "verilated.h"
#include "bench_operations.h"
#if VM_TRACE
#include "bench_toggles.h"
#endif
#include "bench_words.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

namespace {

// where the design asked for the end of the simulation, and by what
std::string ended;

void ends(const char *how, const char *file, int line) {
    if (ended.empty())
        ended = std::string(how) + " at " + file + ":" + std::to_string(line);
}

} // namespace

// in place of Verilator's own, which would end the program, or only say that a memory is not what its file has
// (VL_USER_FINISH, VL_USER_STOP, VL_USER_FATAL, VL_USER_WARN)
void vl_finish(const char *file, int line, const char *) { ends("$finish", file, line); }
void vl_stop(const char *file, int line, const char *) { ends("$stop", file, line); }
void vl_warn(const char *file, int, const char *, const char *what) {
    if (ended.empty() && strstr(what, "$readmem"))
        ended = std::string("$readmem finds no ") + file;
}
void vl_fatal(const char *file, int line, const char *, const char *what) {
    fprintf(stderr, "%%Error: %s:%d: %s\n", file, line, what);
    exit(1);
}

namespace {

FILE *answers; // standard output, which is the design's no longer

const uint32_t WORD = SY_W == 32 ? 0xffffffffu : (1u << SY_W % 32) - 1;

enum class Mode { full, single, toggles, stall, withdraw, reset };
const char *const NAMES[] = {"full", "single", "toggles", "stall", "withdraw", "reset"};

constexpr int MAX_WORDS = 64; // of 32 bits, of one port

// One input stream. Words that are offered stay until they are taken, and so do their shares.
struct Source {
    const uint32_t *word = nullptr, *end = nullptr, *shared = nullptr;
    uint32_t shares[MAX_WORDS] = {};
    bool valid = false, was_ready = false;
    bool left() const { return word != end; }
};

struct Bench {
    VerilatedContext context;
    std::unique_ptr<Model> top;
    Random random;
    uint64_t cycle = 0, idle_limit;
    // what came on do
    std::string failed, expected_text, got_text;
    size_t failed_op = 0, failed_word = 0;
    uint64_t unstable = 0, words = 0;
    bool was_waiting = false, do_was_valid = false, ready = false;
    uint32_t was = 0;
    uint32_t rdi[MAX_WORDS] = {};
    bool rdi_valid = false;
#if VM_TRACE
    Counter counter;
    bool counts = false;
    std::unique_ptr<VerilatedVcdC> trace;
#endif

    Bench(uint64_t seed, uint64_t idle, const char *file, Mode mode) : random(seed), idle_limit(idle) {
        const char *none[] = {"bench"}; // of what the bench is told, $test$plusargs sees nothing
        context.commandArgs(1, none);
        context.randReset(2); // registers without reset start with anything
        context.randSeed(static_cast<int>(seed % 0x7fffffff) + 1);
#if VM_TRACE
        context.traceEverOn(true);
#endif
        ended.clear();
        top = std::make_unique<Model>(&context, "design");
#if VM_TRACE
        counts = mode == Mode::toggles;
        if (file || counts) {
            trace = std::make_unique<VerilatedVcdC>(counts ? &counter : nullptr);
            top->trace(trace.get(), 99);
            trace->open(counts ? "counted" : file);
        }
#endif
        (void)file, (void)mode;
        restart(3);
    }

    ~Bench() {
#if VM_TRACE
        if (trace)
            trace->close();
#endif
        top->final();
    }

    void settle() {
        top->eval();
#if VM_TRACE
        if (trace)
            trace->dump(cycle * 10);
#endif
    }

    void edge() {
        top->SY_CLK = 1;
        top->eval();
#if VM_TRACE
        if (trace && !counts)
            trace->dump(cycle * 10 + 5);
#endif
        top->SY_CLK = 0;
        cycle++;
    }

    void restart(int cycles) {
        top->SY_CLK = 0;
        top->SY_RST = SY_RST_ACTIVE;
        top->SY_PDI_VALID = top->SY_SDI_VALID = 0;
        top->SY_DO_READY = 0;
        for (int i = 0; i < cycles; i++) {
            settle();
            edge();
        }
        top->SY_RST = !SY_RST_ACTIVE;
        was_waiting = do_was_valid = false;
    }

    // Bits that changed so far.
    uint64_t toggles() {
#if VM_TRACE
        if (counts) {
            trace->flush();
            return counter.toggles;
        }
#endif
        return 0;
    }

    template <typename T> void offer(T &port, Source &s, unsigned shares, Mode mode) {
        if (mode == Mode::toggles && !s.valid)
            return;
        if (!s.valid || s.shared != s.word) {
            uint32_t rest = s.valid ? *s.word : random.next() & WORD; // what is not valid may be anything
            for (unsigned i = 1; i < shares; i++) {
                const uint32_t mask = random.next() & WORD;
                set_bits(s.shares, i * SY_W, SY_W, mask);
                rest ^= mask;
            }
            set_bits(s.shares, 0, SY_W, rest);
            s.shared = s.valid ? s.word : nullptr;
        }
        put(port, s.shares);
    }

    bool offers(const Source &s, Mode mode, uint32_t pace) {
        if (!s.left())
            return false;
        if (s.valid)
            return true;
        switch (mode) {
        case Mode::stall:
            return random.below(8) < pace;
        case Mode::withdraw:
            return !s.was_ready || random.below(4) == 0;
        default:
            return true;
        }
    }

    bool takes(Mode mode, uint32_t pace) {
        switch (mode) {
        case Mode::stall:
            return ready || random.below(8) < pace;
        case Mode::withdraw: // high while nothing is there, low when something comes, then as chance has it
            return do_was_valid ? random.below(4) == 0 : random.below(8) != 0;
        default:
            return true;
        }
    }

    // One cycle. Returns whether a word moved on any port; one that came out is in `got`.
    bool step(Source &pdi, Source &sdi, Mode mode, uint32_t pace, bool &came, uint32_t &got) {
        pdi.valid = offers(pdi, mode, pace);
        sdi.valid = offers(sdi, mode, pace);
        ready = takes(mode, pace);
        top->SY_PDI_VALID = pdi.valid;
        top->SY_SDI_VALID = sdi.valid;
        top->SY_DO_READY = ready;
        offer(top->SY_PDI_DATA, pdi, SY_PDI_SHARES, mode);
        offer(top->SY_SDI_DATA, sdi, SY_SDI_SHARES, mode);
#if SY_RW
        if (!rdi_valid) {
            rdi_valid = mode != Mode::stall || random.below(8) < pace;
            for (uint32_t &word : rdi)
                word = random.next();
        }
        put(top->SY_RDI_DATA, rdi);
        top->SY_RDI_VALID = rdi_valid;
#endif
        settle();
        pdi.was_ready = top->SY_PDI_READY;
        sdi.was_ready = top->SY_SDI_READY;
        const bool out = top->SY_DO_VALID;
        uint32_t all[MAX_WORDS] = {}, value = 0;
        get(top->SY_DO_DATA, all);
        for (unsigned i = 0; i < SY_PDI_SHARES; i++)
            value ^= bits(all, i * SY_W, SY_W);
        unstable += was_waiting && (!out || value != was);
        was_waiting = out && !ready;
        do_was_valid = out;
        was = value;
        came = out && ready;
        got = value;
        bool moved = came;
        if (pdi.valid && pdi.was_ready) {
            pdi.word++;
            pdi.valid = false;
            moved = true;
        }
        if (sdi.valid && sdi.was_ready) {
            sdi.word++;
            sdi.valid = false;
            moved = true;
        }
#if SY_RW
        if (top->SY_RDI_READY)
            rdi_valid = false;
#endif
        edge();
        if (came) {
            ready = false;
            words++;
        }
        return moved;
    }

    void fail(const char *how, size_t op, size_t word, const Expected *e, const uint32_t *got) {
        char text[16];
        failed = how;
        failed_op = op;
        failed_word = word;
        if (e) {
            for (int i = SY_W / 4 - 1; i >= 0; i--)
                expected_text += (e->mask >> 4 * i & 15) ? "0123456789abcdef"[e->value >> 4 * i & 15] : 'x';
        }
        if (got) {
            snprintf(text, sizeof text, "%0*x", SY_W / 4, *got);
            got_text = text;
        }
    }

    // Operations first..last-1 as one stream, for at most `most` cycles, or until all is out. Returns false when
    // something is wrong.
    bool run(const std::vector<Operation> &ops, size_t first, size_t last, Mode mode, uint64_t most = UINT64_MAX) {
        std::vector<uint32_t> p, s;
        for (size_t i = first; i < last; i++) {
            p.insert(p.end(), ops[i].pdi.begin(), ops[i].pdi.end());
            s.insert(s.end(), ops[i].sdi.begin(), ops[i].sdi.end());
        }
        Source pdi{p.data(), p.data() + p.size()}, sdi{s.data(), s.data() + s.size()};
        size_t op = first, word = 0;
        uint64_t quiet = 0;
        uint32_t pace = 1 + random.below(7), got = 0;
        bool came = false;
        while (op < last && ops[op].out.empty())
            op++;
        for (uint64_t n = 0; op < last; n++) {
            if (n == most)
                return true;
            quiet = step(pdi, sdi, mode, pace, came, got) ? 0 : quiet + 1;
            if (!ended.empty()) {
                fail("ended", op, word, nullptr, nullptr);
                got_text = ended;
                return false;
            }
            if (came) {
                const Expected &e = ops[op].out[word];
                if ((got ^ e.value) & e.mask) {
                    fail("wrong", op, word, &e, &got);
                    return false;
                }
                if (++word == ops[op].out.size()) {
                    op++;
                    word = 0;
                    pace = 1 + random.below(7);
                }
            }
            if (quiet > idle_limit) {
                fail("hang", op, word, &ops[op].out[word], nullptr);
                char text[120];
                snprintf(text, sizeof text, "pdi_ready %d with %zu words left, sdi_ready %d with %zu left, do_valid %d",
                         int(top->SY_PDI_READY), size_t(pdi.end - pdi.word), int(top->SY_SDI_READY),
                         size_t(sdi.end - sdi.word), int(top->SY_DO_VALID));
                got_text = text;
                return false;
            }
        }
        if (pdi.left() || sdi.left()) { // all is out, though not all is in
            fail("early", last - 1, word, nullptr, nullptr);
            return false;
        }
        return true;
    }

    // Nothing may come out when nothing is asked.
    bool silent(size_t op, Mode mode) {
        Source none;
        bool came = false;
        uint32_t got = 0;
        for (int i = 0; i < 64; i++) {
            step(none, none, mode, 8, came, got);
            if (came) {
                fail("extra", op, 0, nullptr, &got);
                return false;
            }
        }
        return true;
    }
};

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text)
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else
            out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    return out + "\"";
}

void list(const char *name, const std::vector<uint64_t> &numbers) {
    fprintf(answers, ", \"%s\": [", name);
    for (size_t i = 0; i < numbers.size(); i++)
        fprintf(answers, "%s%llu", i ? ", " : "", static_cast<unsigned long long>(numbers[i]));
    fprintf(answers, "]");
}

bool made(const std::vector<Operation> &ops, Mode mode, uint64_t seed, uint64_t idle, const char *trace) {
    Bench bench(seed, idle, trace, mode);
    const bool one_by_one = mode == Mode::single || mode == Mode::toggles;
    std::vector<uint64_t> cycles(ops.size(), 0), toggles(ops.size(), 0);
    bool good = true;
    uint64_t total = 0;
    const uint64_t begin = bench.cycle;
    if (one_by_one || mode == Mode::reset) {
        for (size_t i = 0; good && i < ops.size(); i++) {
            if (mode == Mode::reset) {
                if (ops[i].reuse)
                    continue;
                const size_t words = ops[i].pdi.size() + ops[i].out.size();
                good = bench.run(ops, i, i + 1, Mode::full, 1 + bench.random.below(static_cast<uint32_t>(4 * words)));
                bench.restart(1 + static_cast<int>(bench.random.below(3)));
            }
            const uint64_t start = bench.cycle, before = bench.toggles();
            good = good && bench.run(ops, i, i + 1, mode == Mode::toggles ? mode : Mode::full);
            cycles[i] = bench.cycle - start - 1;
            toggles[i] = bench.toggles() - before;
            total += cycles[i];
            // the next operation does not begin in the tail of this one
            good = good && (mode == Mode::reset || bench.silent(i, mode == Mode::toggles ? mode : Mode::full));
        }
    } else {
        good = bench.run(ops, 0, ops.size(), mode);
        total = bench.cycle - begin;
        good = good && bench.silent(ops.empty() ? 0 : ops.size() - 1, Mode::full);
    }
    fprintf(answers,
            "{\"mode\": \"%s\", \"outcome\": \"%s\", \"ops\": %zu, \"cycles\": %llu, \"words\": %llu, \"unstable\": %llu",
            NAMES[int(mode)], good ? "ok" : bench.failed.c_str(), ops.size(), static_cast<unsigned long long>(total),
            static_cast<unsigned long long>(bench.words), static_cast<unsigned long long>(bench.unstable));
    if (!good) {
        fprintf(answers, ", \"op\": %s, \"word\": %zu, \"expected\": %s, \"got\": %s, \"at\": %llu",
                quoted(ops[bench.failed_op].name).c_str(), bench.failed_word, quoted(bench.expected_text).c_str(),
                quoted(bench.got_text).c_str(), static_cast<unsigned long long>(bench.cycle));
    } else if (one_by_one) {
        list("each", cycles);
        if (mode == Mode::toggles)
            list("toggles", toggles);
    }
    fprintf(answers, "}\n");
    fflush(answers);
    return good;
}

} // namespace

int main(int argc, char **argv) {
    uint64_t seed = 1, idle = 100000;
    const char *file = nullptr, *trace = nullptr;
    std::vector<Mode> modes;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word.rfind("--", 0) == 0) {
            if (i + 1 == argc)
                wrong_usage(word + " needs a value");
            const char *value = argv[++i];
            if (word == "--seed")
                seed = strtoull(value, nullptr, 10);
            else if (word == "--idle")
                idle = strtoull(value, nullptr, 10);
            else if (word == "--trace")
                trace = value;
            else
                wrong_usage("no such option: " + word);
        } else if (!file) {
            file = argv[i];
        } else {
            const auto found = std::find(std::begin(NAMES), std::end(NAMES), word);
            if (found == std::end(NAMES))
                wrong_usage("no such mode: " + word);
            modes.push_back(static_cast<Mode>(found - std::begin(NAMES)));
        }
    }
    if (!file || modes.empty())
        wrong_usage("bench VECTORS MODE... [--seed N] [--idle CYCLES] [--trace FILE]");
    const std::vector<Operation> ops = read(file);
    answers = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w"); // no child of the design has it
    if (!answers || !freopen("/dev/null", "w", stdout))
        wrong_usage("standard output cannot be kept from the design");
    bool good = true;
    for (Mode mode : modes)
        good = made(ops, mode, seed, idle, trace) && good;
    return good ? 0 : 1;
}
