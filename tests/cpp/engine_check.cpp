// engine_check [--count N] [--first N] [--seed S] [--threads PERCENT] [--every-way] [FILE ...]
//
// Checks the engine on N random Pads of a few kilobytes; see engine_case.h. A case depends on the seed and its number
// alone: `--first I --count 1` repeats one. Files are inputs of the fuzzer, which are replayed instead. --every-way fails
// also where a way was never taken.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "engine_bytes.h"
#include "engine_case.h"
#include "stream.h"

namespace {

class RandomDraw final : public Draw {
 public:
  RandomDraw(uint64_t seed, uint64_t number) : state_(seed * 0x9E3779B97F4A7C15u + number * 0xD1B54A32D192ED03u) {}

  uint64_t below(uint64_t limit) override {  // splitmix64
    uint64_t word = state_ += 0x9E3779B97F4A7C15u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return (word ^ word >> 31) % limit;
  }

 private:
  uint64_t state_;
};

uint64_t seed = 0;
uint64_t number = 0;

void report(const char* found, const char* described) {
  std::fprintf(stderr, "engine_check --seed %llu --first %llu --count 1: %s\n  %s\n",
               static_cast<unsigned long long>(seed), static_cast<unsigned long long>(number), found, described);
}

extern "C" void on_signal(int signal) {
  report(signal == SIGSEGV ? "it touched memory that is not its own" : "an assertion failed", current_case());
  _exit(1);
}

// Ways that 20,000 random cases take.
std::vector<std::string> wanted_ways() {
  std::vector<std::string> ways = {"refused by a rule", "empty", "several tasks, bytes", "several tasks, sub-byte",
                                   "several tasks, rows in parts", "on threads", "without AVX2", "misaligned"};
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap", "interior"})
    for (const char* width : {"bytes", "sub-byte"}) ways.push_back(std::string(mode) + ", " + width);
#if PADOPS_STREAM
  ways.insert(ways.end(), {"streamed by all threads", "streamed by one thread", "streamed, rows in parts"});
#endif
#if PADOPS_WIDE
  if (__builtin_cpu_supports("avx2")) ways.push_back("AVX2");
#endif
  return ways;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t first = 0;
  uint64_t count = 20000;
  bool every_way = false;
  Options options;
  std::vector<const char*> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (name == "--count") count = value();
    else if (name == "--first") first = value();
    else if (name == "--seed") seed = value();
    else if (name == "--threads") options.threads = value();
    else if (name == "--every-way") every_way = true;
    else files.push_back(argv[i]);
  }
  std::signal(SIGABRT, on_signal);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::signal(SIGSEGV, on_signal);
#endif
  Ways ways;
  for (const char* name : files) {
    std::ifstream file(name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ByteDraw draw(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    const Outcome outcome = check_case(draw, options, ways);
    if (outcome.found.empty()) continue;
    std::fprintf(stderr, "engine_check %s: %s\n  %s\n", name, outcome.found.c_str(), outcome.described.c_str());
    return 1;
  }
  const uint64_t stop = files.empty() ? first + count : first;
  for (number = first; number < stop; ++number) {
    RandomDraw draw(seed, number);
    const Outcome outcome = check_case(draw, options, ways);
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
  std::printf("%llu cases passed\n", static_cast<unsigned long long>(files.empty() ? count : files.size()));
}
