// The bits of traced signals that change.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "verilated_vcd_c.h"

namespace {

// A VCD that is not written: it counts the bits that change. A signal's first value is no change.
struct Counter final : VerilatedVcdFile {
    uint64_t toggles = 0;
    bool open(const std::string &) override { return true; }
    void close() override {}
    ssize_t write(const char *text, ssize_t size) override {
        for (ssize_t i = 0; i < size; i++) {
            if (text[i] != '\n') {
                line += text[i];
                continue;
            }
            if (!started)
                started = line.rfind("$enddefinitions", 0) == 0;
            else if (!line.empty() && line[0] != '#' && line[0] != '$')
                change();
            line.clear();
        }
        return size;
    }

  private:
    bool started = false;
    std::string line;
    std::unordered_map<std::string, std::string> values; // of signals by their code
    void change() {
        const bool wide = line[0] == 'b';
        const size_t gap = wide ? line.find(' ') : 1, from = wide;
        std::string now = line.substr(from, gap - from);
        std::string &was = values[line.substr(gap + wide)];
        for (size_t i = 0; i < was.size() && i < now.size(); i++)
            toggles += was[i] != now[i];
        was = std::move(now);
    }
};

} // namespace
