// Decides whether several threads share the work on an output, which one thread may finish sooner.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/thresholds.h"

namespace padops {

// The cost of handing a task to another thread differs tenfold among machines. So the node measures it: the first runs
// are shared, the next are not, and the faster way stays. Several threads may run at once.
class Sharing {
 public:
  // The total time of the shared runs that are measured. Sleeping threads can take milliseconds to wake up, while one
  // thread does all the work.
  static constexpr int64_t kSharedNanoseconds = 20'000'000;

  // The fewest runs of each way.
  static constexpr int kTries = 8;

  // For an output of this size. A large output is always shared.
  Sharing(int64_t bytes, const Thresholds& thresholds) : always_(bytes >= thresholds.surely_shared) {}

  // Whether the run that begins now is shared.
  bool choose() const {
    if (always_ || !shared_.has_enough(kSharedNanoseconds)) return true;
    if (!alone_.has_enough(0)) return false;
    // Another thread's time has a price, and a clock is never exact.
    return shared_.least.load(std::memory_order_relaxed) < alone_.least.load(std::memory_order_relaxed) / 16 * 15;
  }

  // Whether the time of such a run is still needed.
  bool is_trying() const { return !always_ && !(shared_.has_enough(kSharedNanoseconds) && alone_.has_enough(0)); }

  // Records the time of a run.
  void took(bool shared, int64_t nanoseconds) { (shared ? shared_ : alone_).add(nanoseconds); }

 private:
  // The runs of one way.
  struct Runs {
    std::atomic<int> count = 0;
    std::atomic<int64_t> all = 0;  // nanoseconds
    std::atomic<int64_t> least = INT64_MAX;

    bool has_enough(int64_t nanoseconds) const {
      return count.load(std::memory_order_relaxed) >= kTries && all.load(std::memory_order_relaxed) >= nanoseconds;
    }

    void add(int64_t nanoseconds) {
      count.fetch_add(1, std::memory_order_relaxed);
      all.fetch_add(nanoseconds, std::memory_order_relaxed);
      int64_t before = least.load(std::memory_order_relaxed);
      while (nanoseconds < before && !least.compare_exchange_weak(before, nanoseconds, std::memory_order_relaxed)) {
      }
    }
  };

  const bool always_;
  Runs shared_;
  Runs alone_;
};

}  // namespace padops
