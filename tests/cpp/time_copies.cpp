// time_copies [SECONDS]
//
// Times the copies that padops can choose from on this processor, and shows whether the choice between them is right
// here. Each copy moves rows into rows that stand further apart, as a Pad does; SECONDS (0.02) are for one number.
// PADOPS_COPY is heard as it is by the library. Fails where a copy gives wrong bytes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "copy/copy.h"
#include "copy/processor.h"

namespace {

using namespace padops;

constexpr std::string_view kChosen = "chosen";  // what the writers take for such rows
constexpr std::string_view kCopies[] = {"baseline", "avx2", "string", "libc", kChosen};
constexpr int64_t kRuns[] = {256, 1024, 2560, 8192, 16384, 65536, 960'000};
constexpr int64_t kTotals[] = {200'000, 3'840'000, 12'000'000};  // within the caches of a core, and of the processor
constexpr int64_t kGaps[] = {0, 4};                              // aligned as the source, and not

struct Rows {
  int64_t run;    // bytes of a row, more than a cache line
  int64_t count;  // of rows
  int64_t gap;    // bytes between two rows of the target
};

using Pass = void (*)(char* target, const char* source, const Rows& rows);

template <class Target, class Copy>
PADOPS_INLINE void copy_rows(char* target, const char* source, const Rows& rows, const Copy& copy) {
  compiled_for(Target{}, [=]() PADOPS_INLINE_LAMBDA {
    char* to = target;
    const char* from = source;
    for (int64_t k = 0; k < rows.count; ++k, from += rows.run, to += rows.run + rows.gap) copy(to, from, rows.run);
  });
}

void by_libc(char* target, const char* source, const Rows& rows) {
  copy_rows<Baseline>(target, source, rows, [](char* to, const char* from, size_t n) { std::memcpy(to, from, n); });
}

void by_string(char* target, const char* source, const Rows& rows) {
  copy_rows<Baseline>(target, source, rows,
                      [](char* to, const char* from, size_t n) PADOPS_INLINE_LAMBDA { copy_string(to, from, n); });
}

template <class Target>
void by_registers(char* target, const char* source, const Rows& rows) {
  copy_rows<Target>(target, source, rows,
                    [](char* to, const char* from, size_t n) PADOPS_INLINE_LAMBDA { copy_long<Target>(to, from, n); });
}

Pass pass_of(std::string_view name, int64_t run) {
  if (name == "libc") return by_libc;
  CopyChoice choice = copy_of_this_machine();
  if (name != kChosen) {
    choice = named_copy(name, this_processor());
    if (choice.string_from != INT64_MAX) choice.string_from = 0;
  }
  if (run >= choice.string_from) return by_string;
  return with_target(choice.avx2, []<class Target>(Target) -> Pass { return by_registers<Target>; });
}

// Memory that begins with a page, as large tensors mostly do. Where a target begins a few bytes behind its source in a
// page, processors differ most.
class Pages {
 public:
  Pages(int64_t bytes, char filled) : memory_(bytes + kPage, filled) {}

  char* begin() { return memory_.data() + (kPage - reinterpret_cast<uintptr_t>(memory_.data()) % kPage) % kPage; }

 private:
  static constexpr size_t kPage = 4096;
  std::vector<char> memory_;
};

// The rows, and where they go.
class Copied {
 public:
  explicit Copied(const Rows& rows)
      : rows_(rows), source_(rows.count * rows.run, 0), target_(rows.count * (rows.run + rows.gap), 0) {
    for (int64_t k = 0; k < rows.count * rows.run; ++k) source_.begin()[k] = static_cast<char>(k % 251);
  }

  // The median of `rounds` passes, in seconds.
  double time(Pass pass, int64_t rounds) {
    std::vector<double> seconds(rounds);
    for (double& taken : seconds) {
      const auto begin = std::chrono::steady_clock::now();
      pass(target_.begin(), source_.begin(), rows_);
      taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
    return seconds[rounds / 2];
  }

  // Whether a pass gives the right bytes, and none between the rows.
  bool right(Pass pass) {
    constexpr char kUntouched = '\xFD';  // no byte of the source
    const int64_t step = rows_.run + rows_.gap;
    std::memset(target_.begin(), kUntouched, rows_.count * step);
    pass(target_.begin(), source_.begin(), rows_);
    for (int64_t k = 0; k < rows_.count; ++k) {
      const char* row = target_.begin() + k * step;
      if (std::memcmp(row, source_.begin() + k * rows_.run, rows_.run) != 0) return false;
      if (std::count(row + rows_.run, row + step, kUntouched) != rows_.gap) return false;
    }
    return true;
  }

 private:
  Rows rows_;
  Pages source_;
  Pages target_;
};

// Bytes a second, by the better median of two: in between, what is measured next to it has had its turn.
std::vector<double> speeds_of(const Rows& rows, double seconds) {
  Copied copied(rows);
  std::vector<double> best(std::size(kCopies), 0);
  for (int turn = 0; turn < 2; ++turn)
    for (size_t k = 0; k < std::size(kCopies); ++k) {
      const Pass pass = pass_of(kCopies[k], rows.run);
      if (!copied.right(pass))
        throw std::runtime_error("the copy " + std::string(kCopies[k]) + " gives wrong bytes for rows of " +
                                 std::to_string(rows.run) + " bytes, " + std::to_string(rows.gap) + " apart");
      const double once = std::max(copied.time(pass, 3), 1e-7);
      const double taken =
          std::max(copied.time(pass, std::max<int64_t>(3, static_cast<int64_t>(seconds / once))), 1e-9);
      best[k] = std::max(best[k], static_cast<double>(rows.count * rows.run) / taken);
    }
  return best;
}

void show(double seconds) {
  const Processor processor = this_processor();
  std::printf("processor: AMD %s, family %d, AVX2 %s, FSRM %s\n", processor.amd ? "yes" : "no", processor.family,
              processor.avx2 ? "yes" : "no", processor.short_string_moves ? "yes" : "no");
  const char* asked = std::getenv("PADOPS_COPY");
  const bool forced = asked != nullptr && *asked != '\0';
  copy_of_this_machine();  // throws where PADOPS_COPY names no copy
  std::printf("GB/s of copied rows (row, total and gap in bytes); chosen %s%s\n",
              forced ? "by PADOPS_COPY=" : "for this processor", forced ? asked : "");
  std::printf("%10s%10s%5s", "row", "total", "gap");
  for (const std::string_view name : kCopies) std::printf("%10s", name.data());
  std::printf("%15s\n", "chosen / best");
  for (const int64_t run : kRuns)
    for (const int64_t total : kTotals)
      for (const int64_t gap : kGaps) {
        if (run > total) continue;
        const std::vector<double> speeds = speeds_of({run, total / run, gap}, seconds);
        std::printf("%10lld%10lld%5lld", static_cast<long long>(run), static_cast<long long>(total),
                    static_cast<long long>(gap));
        for (const double speed : speeds) std::printf("%10.1f", speed / 1e9);
        std::printf("%15.2f\n", speeds.back() / *std::max_element(speeds.begin(), speeds.end() - 1));
        std::fflush(stdout);
      }
}

}  // namespace

int main(int count, char** arguments) {
  double seconds = 0.02;
  if (count > 1) {
    char* end = nullptr;
    seconds = std::strtod(arguments[1], &end);
    if (count > 2 || *end != '\0' || !(seconds > 0 && seconds <= 60)) {
      std::fprintf(stderr, "time_copies [SECONDS]: above 0, at most 60\n");
      return 2;
    }
  }
  try {
    show(seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
