#include "engine_case.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "arena.h"
#include "core/engine.h"
#include "core/plan.h"
#include "core/text.h"
#include "random_case.h"

namespace {

using namespace padops;

constexpr int64_t kMaxBits = int64_t{8} * 48 * 1024;  // of a source or an output
constexpr size_t kMaxTraced = size_t{2} << 20;        // bytes to look at, in the cases whose tasks run alone

char described[2048];

int64_t bytes_of(int64_t elements, int bits) { return (elements * bits + 7) / 8; }

// The bytes of the output as the map gives them.
std::vector<char> mapped(const Plan& plan, int bits, const char* source, const char* fill, size_t bytes) {
  std::vector<char> out(bytes, 0);
  int64_t at = 0;
  const auto copy_bytes = [&](int64_t index) {
    const size_t width = bits / 8;
    std::memcpy(out.data() + at++ * width, index == kFill ? fill : source + index * width, width);
  };
  const auto copy_bits = [&](int64_t index) {
    const int per_byte = 8 / bits;
    const auto byte = static_cast<unsigned char>(index == kFill ? *fill : source[index / per_byte]);
    const unsigned element = (index == kFill ? byte : byte >> index % per_byte * bits) & ((1u << bits) - 1);
    char& to = out[at / per_byte];
    to = static_cast<char>(static_cast<unsigned char>(to) | element << at++ % per_byte * bits);
  };
  if (bits < 8) {
    for_each_source(plan, copy_bits);
  } else {
    for_each_source(plan, copy_bytes);
  }
  return out;
}

struct Memory {
  Arena source{kMaxBits / 8};
  Arena one{kMaxBits / 8};
  Arena other{kMaxBits / 8};
};

// An engine, what it is given, and what it must give.
struct Subject {
  const Engine& engine;
  const Case& one;
  const char* source;
  const char* fill;
  const std::vector<char>& expected;
  Memory& memory;
};

// Runs each task by itself in two memories that differ in every byte; gives what is wrong.
std::string run_alone(const Subject& subject) {
  const auto& [engine, one, source, fill, expected, memory] = subject;
  constexpr char kBefore = 0x5A;
  const size_t bytes = expected.size();
  char* low = memory.one.place(bytes, one.output_offset, one.flush_right);
  char* high = memory.other.place(bytes, one.output_offset, one.flush_right);
  std::memset(low, kBefore, bytes);
  std::memset(high, ~kBefore, bytes);
  std::vector<int64_t> writer(bytes, -1);
  for (size_t task = 0; task < engine.tasks(); ++task) {
    engine.run(task, source, low, fill);
    engine.run(task, source, high, fill);
    for (size_t i = 0; i < bytes; ++i) {
      if (low[i] == kBefore && high[i] == static_cast<char>(~kBefore)) continue;
      if (writer[i] >= 0) return text("byte ", i, " is written by tasks ", writer[i], " and ", task);
      writer[i] = static_cast<int64_t>(task);
      if (low[i] != high[i]) return text("byte ", i, " keeps bits of what was there before task ", task);
      if (low[i] != expected[i])
        return text("byte ", i, " is ", static_cast<int>(low[i]), ", expected ", static_cast<int>(expected[i]),
                    ", task ", task);
      low[i] = kBefore;
      high[i] = static_cast<char>(~kBefore);
    }
  }
  const auto missing = std::find(writer.begin(), writer.end(), -1);
  if (missing != writer.end()) return text("byte ", missing - writer.begin(), " is written by no task");
  return memory.one.intact() && memory.other.intact() ? "" : "memory outside the output has changed";
}

// Runs all tasks, `threads` at a time, in this order; gives what is wrong.
std::string run_together(const Subject& subject, std::span<const size_t> order, size_t threads) {
  const auto& [engine, one, source, fill, expected, memory] = subject;
  char* output = memory.one.place(expected.size(), one.output_offset, one.flush_right);
  std::memset(output, 0x77, expected.size());
  std::atomic<size_t> next = 0;
  const auto work = [&, &run = subject] {
    for (size_t i = next++; i < order.size(); i = next++) run.engine.run(order[i], run.source, output, run.fill);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  const auto [wrong, right] = std::mismatch(output, output + expected.size(), expected.begin());
  if (right != expected.end())
    return text("byte ", right - expected.begin(), " is ", static_cast<int>(*wrong), ", expected ",
                static_cast<int>(*right), ", with ", threads, " threads");
  return memory.one.intact() ? "" : text("memory outside the output has changed, with ", threads, " threads");
}

void count_ways(const Engine& engine, const Case& one, Ways& ways) {
  const char* width = one.bits < 8 ? "sub-byte" : "bytes";
  ++ways[text(mode_name(one.mode), ", ", width)];
  const bool interior = std::any_of(one.amounts.begin(), one.amounts.end(), [](auto& a) { return a.interior > 0; });
  if (interior) ++ways[text("interior, ", width)];
  if (engine.tasks() > 1) ++ways[engine.parts() > 1 ? "several tasks, rows in parts" : text("several tasks, ", width)];
  if (engine.streaming() == Streaming::kAlways) ++ways["streamed by all threads"];
  if (engine.streaming() == Streaming::kAlone) ++ways["streamed by one thread"];
  if (engine.streaming() != Streaming::kNever && engine.parts() > 1) ++ways["streamed, rows in parts"];
  ++ways[one.thresholds.copy.avx2 ? "AVX2" : "without AVX2"];
  if (one.thresholds.copy.string_from < INT64_MAX) ++ways["string instruction"];
  if (one.source_offset % 8 != 0 && one.output_offset % 8 != 0) ++ways["misaligned"];
}

// Runs the tasks alone, all in random order, and in some cases on threads; gives what is wrong.
std::string run_every_way(const Subject& subject, Draw& draw, const Options& options, Ways& ways) {
  const size_t tasks = subject.engine.tasks();
  std::string found;
  if (tasks * subject.expected.size() <= kMaxTraced) found = run_alone(subject);
  if (!found.empty()) return found;
  std::vector<size_t> order(tasks);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draw.below(i)]);
  found = run_together(subject, order, 1);
  if (found.empty() && draw.chance(options.threads)) {
    if (tasks > 1) ++ways["on threads"];
    found = run_together(subject, order, 3);
  }
  return found.empty() && !subject.memory.source.intact() ? "memory around the source has changed" : found;
}

}  // namespace

const char* current_case() { return described; }

Outcome check_case(Draw& draw, const Options& options, Ways& ways) {
  return check_case(random_case(draw), draw, options, ways);
}

Outcome check_case(const Case& one, Draw& draw, const Options& options, Ways& ways) {
  static Memory memory;
  const int64_t elements = std::accumulate(one.shape.begin(), one.shape.end(), int64_t{1}, std::multiplies<>());
  Outcome outcome{"", words(one)};
  outcome.described.copy(described, sizeof(described) - 1);
  described[std::min(outcome.described.size(), sizeof(described) - 1)] = 0;

  Plan plan;
  int64_t outputs = 0;
  std::optional<Engine> made;
  try {
    plan = make_plan(one.shape, one.amounts, one.mode, one.rules);
    const std::vector<int64_t> dims = plan.shape();
    outputs = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    if (std::max(elements, outputs) > kMaxBits / one.bits) {  // an engine is made for what fits into memory alone
      ++ways["too large, left out"];
      return outcome;
    }
    made.emplace(plan, one.bits, one.thresholds);
  } catch (const PadError&) {
    ++ways["refused by a rule"];
    return outcome;
  }

  const auto source_bytes = static_cast<size_t>(bytes_of(elements, one.bits));
  char* source = memory.source.place(source_bytes, one.source_offset, one.flush_right);
  uint64_t noise = draw.below(256) + 1;
  const auto random_byte = [&noise] {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    return static_cast<char>(noise >> 56);
  };
  std::generate(source, source + source_bytes, random_byte);
  char fill[16];
  std::generate(fill, fill + sizeof(fill), random_byte);
  if (one.bits < 8) fill[0] = static_cast<char>(fill[0] & ((1 << one.bits) - 1));

  const std::vector<char> expected =
      mapped(plan, one.bits, source, fill, static_cast<size_t>(bytes_of(outputs, one.bits)));
  const Engine& engine = *made;
  if ((engine.tasks() == 0) != expected.empty()) {
    outcome.found = text("there are ", engine.tasks(), " tasks for ", expected.size(), " bytes");
    return outcome;
  }
  if (expected.empty()) {
    ++ways["empty"];
    return outcome;
  }
  count_ways(engine, one, ways);
  outcome.found = run_every_way({engine, one, source, fill, expected, memory}, draw, options, ways);
  return outcome;
}
