// One random Pad, executed in every way that the engine has, and compared with the plain map of the plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

// Where the decisions of a case come from: a random number generator, or the bytes that a fuzzer has chosen.
class Draw {
 public:
  virtual ~Draw() = default;

  // A number from 0 to limit - 1.
  virtual uint64_t below(uint64_t limit) = 0;

  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1));
  }
  bool chance(uint64_t percent) { return below(100) < percent; }
  template <class Item, size_t kCount>
  Item pick(const Item (&items)[kCount]) {
    return items[below(kCount)];
  }
};

struct Options {
  uint64_t threads = 10;  // percent of the cases that run on threads as well
};

struct Outcome {
  std::string found;     // what is wrong; empty where nothing is
  std::string described;  // the case
};

// How often each way was taken.
using Ways = std::map<std::string, uint64_t>;

// Draws a case and checks it. Every task runs alone in memory of two different contents, so that each byte that it writes
// shows; then all run in random order, and in some cases on threads. Must hold: each byte of the output is written by one
// task, has the value that the map gives it, and nothing else changes. The ways that the case took are counted.
Outcome check_case(Draw& draw, const Options& options, Ways& ways);

// The case that is being checked, for a handler of signals.
const char* current_case();
