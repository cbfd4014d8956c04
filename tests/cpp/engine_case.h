// Executes one random Pad in every way that the engine has, and compares with the plain map of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "draw.h"
#include "random_case.h"

struct Options {
  uint64_t threads = 10;  // percent of the cases that run on threads as well
};

struct Outcome {
  std::string found;      // what is wrong; empty where nothing is
  std::string described;  // the case
};

// How often each way was taken.
using Ways = std::map<std::string, uint64_t>;

// Draws a case and checks it, and counts the ways that it takes. Every task runs alone in memory of two different
// contents, so that each byte that it writes shows. Then all tasks run in random order, in some cases on threads. Each
// byte of the output must be written by one task and have the value that the map gives it. Nothing else may change.
Outcome check_case(Draw& draw, const Options& options, Ways& ways);

// The same for a case that was not drawn; the data are.
Outcome check_case(const Case& one, Draw& draw, const Options& options, Ways& ways);

// The case that is being checked, for a handler of signals.
const char* current_case();
