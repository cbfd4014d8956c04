// engine_check [--count N] [--first N] [--seed S] [--threads PERCENT] [--every-way]
// engine_check --replay FILE
//
// Checks the engine on N random Pads of a few kilobytes; see engine_case.h. A case depends on the seed and its number
// alone: `--first I --count 1` repeats one. --every-way fails also where a way was never taken. The second form checks
// inputs of the fuzzer, one a line, in hexadecimal digits.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "copy/platform.h"
#include "core/sharing.h"
#include "core/streaming.h"
#include "draw.h"
#include "engine_case.h"

namespace {

uint64_t seed = 0;
uint64_t number = 0;
const char* replayed = nullptr;

void report(const char* found, const char* described) {
  const auto index = static_cast<unsigned long long>(number);
  if (replayed != nullptr) {
    std::fprintf(stderr, "engine_check --replay %s: line %llu: %s\n  %s\n", replayed, index + 1, found, described);
  } else {
    std::fprintf(stderr, "engine_check --seed %llu --first %llu --count 1: %s\n  %s\n",
                 static_cast<unsigned long long>(seed), index, found, described);
  }
}

std::vector<std::vector<uint8_t>> read_inputs(const char* name) {
  std::ifstream file(name);
  std::vector<std::vector<uint8_t>> inputs;
  for (std::string line; std::getline(file, line);) {
    inputs.emplace_back();
    for (size_t at = 0; at + 1 < line.size(); at += 2)
      inputs.back().push_back(static_cast<uint8_t>(std::stoi(line.substr(at, 2), nullptr, 16)));
  }
  return inputs;
}

extern "C" void on_signal(int signal) {
  report(signal == SIGSEGV ? "it touched memory that is not its own" : "an assertion failed", current_case());
  std::_Exit(1);
}

// Ways that 20,000 random cases take.
std::vector<std::string> wanted_ways() {
  std::vector<std::string> ways = {"refused by a rule",
                                   "empty",
                                   "several tasks, bytes",
                                   "several tasks, sub-byte",
                                   "several tasks, rows in parts",
                                   "on threads",
                                   "without AVX2",
                                   "misaligned"};
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap", "interior"})
    for (const char* width : {"bytes", "sub-byte"}) ways.push_back(std::string(mode) + ", " + width);
#if PADOPS_SSE2
  ways.insert(ways.end(),
              {"streamed by all threads", "streamed by one thread", "streamed, rows in parts", "string instruction"});
#endif
#if PADOPS_AVX2
  if (__builtin_cpu_supports("avx2")) ways.push_back("AVX2");
#endif
  return ways;
}

// The string instruction is for processors alone on which it has been measured to be fast.
using padops::choose_copy;
using padops::Processor;
static_assert(choose_copy({}) == padops::CopyChoice{});
static_assert(choose_copy({.amd = true, .family = 26, .avx2 = true, .short_string_moves = true}) ==
              padops::CopyChoice{true, padops::kStringFrom});
static_assert(choose_copy({.amd = true, .family = 26, .avx2 = true}).string_from == INT64_MAX);
static_assert(choose_copy({.amd = true, .family = 25, .short_string_moves = true}).string_from == INT64_MAX);
static_assert(choose_copy({.family = 26, .short_string_moves = true}).string_from == INT64_MAX);

// Tasks that overlap, in one thread: whether they do so in a run is up to the machine. Returns what is wrong, or null.
const char* check_overlapping_tasks() {
  std::atomic<int> running = 0;
  {
    const padops::StreamingTask first(padops::Streaming::kAlone, running);
    const padops::StreamingTask second(padops::Streaming::kAlone, running);
    const padops::StreamingTask always(padops::Streaming::kAlways, running);
    const padops::StreamingTask never(padops::Streaming::kNever, running);
    if (!first.streams()) return "a task that is alone does not stream";
    if (second.streams()) return "a task beside another one streams";
    if (!always.streams() || never.streams()) return "a task does not do what was decided";
  }
  if (running != 0) return "tasks that have ended are counted";
  return padops::StreamingTask(padops::Streaming::kAlone, running).streams() ? nullptr : "a later task does not stream";
}

// How a shape ends up whose runs take so many nanoseconds each way, if nothing disturbs them; only the first of each
// way is not disturbed. Returns what is wrong on the way, or null.
const char* check_trial(int64_t together, int64_t alone, bool expected) {
  const padops::Thresholds thresholds;
  padops::Sharing sharing(thresholds.surely_shared - 1, thresholds);
  int runs[2] = {};
  int64_t times[2] = {};
  for (int i = 0; i < 1000 && sharing.is_trying(); ++i) {
    const bool shared = sharing.choose();
    const int64_t disturbance = runs[shared] == 0 ? 0 : shared ? 300'000 : 20'000;
    const int64_t time = (shared ? together : alone) + disturbance;
    ++runs[shared];
    times[shared] += time;
    sharing.took(shared, time);
  }
  if (sharing.is_trying()) return "a trial does not end";
  if (runs[0] != 8 || runs[1] < 8) return "a trial takes one way too seldom";
  if (times[1] < 20'000'000) return "threads have no time to wake up";
  return sharing.choose() == expected ? nullptr : "the slower way stays";
}

// The trial of a node that several threads run at once; ThreadSanitizer sees what they share.
const char* check_shared_trial() {
  const padops::Thresholds thresholds;
  padops::Sharing sharing(thresholds.surely_shared - 1, thresholds);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&sharing] {
      for (int run = 0; run < 100; ++run) sharing.took(sharing.choose(), 1'000'000);
    });
  for (std::thread& thread : threads) thread.join();
  return sharing.is_trying() ? "a trial of several threads does not end" : nullptr;
}

// The trial of whether threads share the work, by times that are made up.
const char* check_sharing() {
  const padops::Thresholds thresholds;
  const padops::Sharing large(thresholds.surely_shared, thresholds);
  if (!large.choose() || large.is_trying()) return "a large output is not shared at once";
  if (const char* wrong = check_shared_trial()) return wrong;
  if (const char* wrong = check_trial(100'000, 200'000, true)) return wrong;
  if (const char* wrong = check_trial(300'000, 200'000, false)) return wrong;
  return check_trial(195'000, 200'000, false);  // another thread's time is worth something
}

// From three quarters of the last cache on, copies go past the caches, where the system says how large that is.
const char* check_cache() {
  int64_t expected = padops::Thresholds().streamed;
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  int64_t kilobytes = 0;
  char unit = 0;
  if (file >> kilobytes >> unit && unit == 'K' && kilobytes > 0) expected = kilobytes * 1024 / 4 * 3;
  return padops::Thresholds::of_this_machine().streamed == expected ? nullptr : "the size of the cache is not read";
}

// The copies that can be asked for by name.
const char* check_named_copies() {
  using padops::named_copy;
  const Processor processor{.avx2 = true};
  const bool right = named_copy("baseline", processor) == padops::CopyChoice{} &&
                     named_copy("avx2", processor) == padops::CopyChoice{true, INT64_MAX} &&
                     named_copy("string", processor) == padops::CopyChoice{true, padops::kStringFrom} &&
                     named_copy("avx2", {}) == padops::CopyChoice{};
  return right ? nullptr : "a name stands for another copy";
}

// Each mode on each short axis with each begin and end near it, crops that leave the window outside included: that is
// where rows are cut into runs of every kind.
bool short_axes_are_right(const Options& options) {
  using padops::Mode;
  Ways ways;
  for (const Mode mode : {Mode::kConstant, Mode::kEdge, Mode::kReflect, Mode::kSymmetric, Mode::kWrap})
    for (const int bits : {4, 8})
      for (int64_t size = 1; size <= 4; ++size)
        for (int64_t begin = -7; begin <= 8; ++begin)
          for (int64_t end = -7; end <= 8; ++end) {
            RandomDraw draw(0, 0);
            Case one;
            one.bits = bits;
            one.mode = mode;
            one.rules.crop = padops::Crop::kFull;
            one.shape = {size};
            one.amounts = {{begin, end, 0}};
            const Outcome outcome = check_case(one, draw, options, ways);
            if (outcome.found.empty()) continue;
            report(outcome.found.c_str(), outcome.described.c_str());
            return false;
          }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t first = 0;
  uint64_t count = 20000;
  bool every_way = false;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (name == "--count") count = value();
    else if (name == "--first") first = value();
    else if (name == "--seed") seed = value();
    else if (name == "--threads") options.threads = value();
    else if (name == "--every-way") every_way = true;
    else if (name == "--replay" && i + 1 < argc) replayed = argv[++i];
    else return std::fprintf(stderr, "unknown: %s\n", argv[i]), 2;
  }
  if (const char* wrong = check_sharing()) return std::fprintf(stderr, "engine_check: %s\n", wrong), 1;
  if (const char* wrong = check_cache()) return std::fprintf(stderr, "engine_check: %s\n", wrong), 1;
  if (const char* wrong = check_named_copies()) return std::fprintf(stderr, "engine_check: %s\n", wrong), 1;
  if (const char* wrong = check_overlapping_tasks()) return std::fprintf(stderr, "engine_check: %s\n", wrong), 1;
  std::signal(SIGABRT, on_signal);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::signal(SIGSEGV, on_signal);
#endif
  if (replayed == nullptr && !short_axes_are_right(options)) return 1;
  Ways ways;
  std::vector<std::vector<uint8_t>> inputs;
  if (replayed != nullptr) {
    inputs = read_inputs(replayed);
    first = 0;
    count = inputs.size();
  }
  for (number = first; number < first + count; ++number) {
    std::unique_ptr<Draw> draw;
    if (replayed != nullptr) {
      draw = std::make_unique<ByteDraw>(inputs[number].data(), inputs[number].size());
    } else {
      draw = std::make_unique<RandomDraw>(seed, number);
    }
    const Outcome outcome = check_case(*draw, options, ways);
    if (outcome.found.empty()) continue;
    report(outcome.found.c_str(), outcome.described.c_str());
    return 1;
  }
  for (const auto& [way, times] : ways) std::printf("%9llu %s\n", static_cast<unsigned long long>(times), way.c_str());
  for (const std::string& way : wanted_ways()) {
    if (!every_way || ways[way] > 0) continue;
    std::fprintf(stderr, "no case took this way: %s\n", way.c_str());
    return 1;
  }
  std::printf("%llu cases passed\n", static_cast<unsigned long long>(count));
}
