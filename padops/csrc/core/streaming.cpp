#include "core/streaming.h"

#include "copy/non_temporal_writer.h"

namespace padops {

#if PADOPS_SSE2

namespace {

// How often NonTemporalWriter merges a run into a cache line: the run's cost beside its bytes. A reversed line must
// first reach memory, which costs as much as four merges.
int64_t merges(const Run& run, int64_t element) {
  constexpr int64_t kReversed = 4;
  constexpr auto kLineBytes = static_cast<int64_t>(kLine);
  const auto size = static_cast<size_t>(element);
  if (run.kind == Run::Kind::kRepeat && !fits_register(size))
    return element > kLineBytes / 2 ? run.count : run.count / (kLineBytes / element) + 1;
  if (run.kind != Run::Kind::kBackward) return 1;
  return merges_elements(run.count, size) ? run.count : (run.count * element / kLineBytes + 1) * kReversed;
}

}  // namespace

Streaming choose_streaming(const Traffic& traffic, const std::vector<Run>& runs, const Thresholds& thresholds) {
  if (traffic.bytes <= thresholds.streamed) return Streaming::kNever;
  int64_t listed = 0;
  int64_t merged = 0;
  for (const Run& run : runs) {
    // A part of a row repeats the runs of the first period.
    if (run.kind == Run::Kind::kPeriodic && traffic.shared_rows) continue;
    if (run.kind == Run::Kind::kDilated || run.kind == Run::Kind::kPeriodic) return Streaming::kNever;
    listed += run.count;
    merged += merges(run, traffic.element);
  }
  if (listed * traffic.element < thresholds.bytes_per_merge * merged) return Streaming::kNever;
  return traffic.bytes / thresholds.streaming_threads > thresholds.streamed ? Streaming::kAlways : Streaming::kAlone;
}

#else

Streaming choose_streaming(const Traffic&, const std::vector<Run>&, const Thresholds&) { return Streaming::kNever; }

#endif

StreamingTask::StreamingTask(Streaming streaming, std::atomic<int>& running)
    : running_(running),
      counted_(streaming == Streaming::kAlone),
      streams_(streaming == Streaming::kAlways || (counted_ && running_.fetch_add(1, std::memory_order_relaxed) == 0)) {
}

StreamingTask::~StreamingTask() {
  if (counted_) running_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace padops
