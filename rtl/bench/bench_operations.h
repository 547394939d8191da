// What the test bench is told to do: the operations of a file of vectors (bench.cpp says how they are written).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ports.h"

namespace {

struct Expected {
    uint32_t value, mask;
};

struct Operation {
    std::string name;
    bool reuse = false;
    std::vector<uint32_t> sdi, pdi;
    std::vector<Expected> out;
};

[[noreturn]] void wrong_usage(const std::string &text) {
    fprintf(stderr, "bench: %s\n", text.c_str());
    exit(2);
}

std::vector<Operation> read(const char *file) {
    std::ifstream in(file);
    if (!in)
        wrong_usage(std::string(file) + " cannot be read");
    std::vector<Operation> ops;
    std::string line, word;
    for (size_t number = 1; std::getline(in, line); number++) {
        std::istringstream words(line);
        if (!(words >> word))
            continue;
        const std::string kind = word;
        if (kind == "op") {
            ops.emplace_back();
            words >> ops.back().name;
            ops.back().reuse = bool(words >> word) && word == "reuse";
            continue;
        }
        if (ops.empty() || (kind != "s" && kind != "p" && kind != "d"))
            wrong_usage(std::string(file) + ", line " + std::to_string(number) + ": op, s, p or d is expected");
        Operation &op = ops.back();
        while (words >> word) {
            Expected e{0, 0};
            if (word.size() != SY_W / 4)
                wrong_usage(std::string(file) + ", line " + std::to_string(number) + ": words have other widths");
            for (char c : word) {
                const bool any = c == 'x' || c == 'X';
                const char digit[] = {any ? '0' : c, 0};
                e.value = e.value << 4 | static_cast<uint32_t>(strtoul(digit, nullptr, 16));
                e.mask = e.mask << 4 | (any ? 0 : 15);
            }
            if (kind == "d")
                op.out.push_back(e);
            else
                (kind == "s" ? op.sdi : op.pdi).push_back(e.value);
        }
    }
    return ops;
}

} // namespace
