#include "copy/timing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "copy/copy.h"
#include "copy/processor.h"

namespace padops {

namespace {

using Pass = void (*)(char* target, const char* source, const CopiedRows& rows);

template <class Target, class Copy>
PADOPS_INLINE void copy_rows(char* target, const char* source, const CopiedRows& rows, const Copy& copy) {
  compiled_for(Target{}, [=]() PADOPS_INLINE_LAMBDA {
    char* to = target;
    for (int64_t at = 0; at + rows.run <= rows.bytes; at += rows.run, to += rows.run + rows.gap)
      copy(to, source + at, rows.run);
  });
}

void by_libc(char* target, const char* source, const CopiedRows& rows) {
  copy_rows<Baseline>(target, source, rows, [](char* to, const char* from, size_t n) { std::memcpy(to, from, n); });
}

void by_string(char* target, const char* source, const CopiedRows& rows) {
  copy_rows<Baseline>(target, source, rows,
                      [](char* to, const char* from, size_t n) PADOPS_INLINE_LAMBDA { copy_string(to, from, n); });
}

template <class Target>
void by_registers(char* target, const char* source, const CopiedRows& rows) {
  copy_rows<Target>(target, source, rows,
                    [](char* to, const char* from, size_t n) PADOPS_INLINE_LAMBDA { copy_long<Target>(to, from, n); });
}

Pass pass_of(std::string_view name, int64_t run) {
  if (name == "libc") return by_libc;
  CopyChoice choice = copy_of_this_machine();
  if (name != "chosen") {
    choice = named_copy(name, this_processor());
    if (choice.string_from != INT64_MAX) choice.string_from = 0;
  }
  if (run >= choice.string_from) return by_string;
  return with_target(choice.avx2, []<class Target>(Target) -> Pass { return by_registers<Target>; });
}

constexpr size_t kPage = 4096;

// Where the first page in this memory begins.
char* page_in(std::vector<char>& memory) {
  return memory.data() + (kPage - reinterpret_cast<uintptr_t>(memory.data()) % kPage) % kPage;
}

}  // namespace

double time_copy(std::string_view name, const CopiedRows& rows, int64_t rounds) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (rows.run <= static_cast<int64_t>(kLine) || rows.run > rows.bytes || rows.bytes > kMost || rows.gap < 0 ||
      rows.gap > rows.run || rounds < 1)
    throw std::invalid_argument("no rows have these sizes");
  const Pass pass = pass_of(name, rows.run);
  std::vector<char> source_memory(rows.bytes + kPage, 1);
  std::vector<char> target_memory(rows.bytes / rows.run * (rows.run + rows.gap) + kPage, 2);
  // As large tensors mostly begin. Where a target begins a few bytes behind its source in a page, processors differ
  // most.
  const char* source = page_in(source_memory);
  char* target = page_in(target_memory);
  std::vector<double> seconds(rounds);
  for (double& taken : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    pass(target, source, rows);
    taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[rounds / 2];
}

}  // namespace padops
