// The target of libFuzzer: clang++ -fsanitize=fuzzer,address,undefined; the cases are those of engine_check.
#include <cstdio>
#include <cstdlib>

#include "draw.h"
#include "engine_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static Ways ways;
  ByteDraw draw(bytes, size);
  const Outcome outcome = check_case(draw, {.threads = 0}, ways);
  if (outcome.found.empty()) return 0;
  std::fprintf(stderr, "%s\n  %s\n", outcome.found.c_str(), outcome.described.c_str());
  std::abort();
}
