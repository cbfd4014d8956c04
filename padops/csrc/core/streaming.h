// Decides whether the output bypasses the caches; NonTemporalWriter then writes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "copy/writer.h"
#include "core/thresholds.h"

namespace padops {

enum class Streaming {
  kNever,
  kAlone,  // if no other thread works on the output
  kAlways,
};

// The work of an engine.
struct Traffic {
  int64_t bytes;     // of source and output together
  int64_t element;   // bytes of a row's element
  bool shared_rows;  // whether several tasks share a row
};

// Decides by the bytes, and by how often NonTemporalWriter would merge the runs of a row.
Streaming choose_streaming(const Traffic& traffic, const std::vector<Run>& runs, const Thresholds& thresholds);

// An active task. It counts itself in `running` if the decision depends on other tasks.
class StreamingTask {
 public:
  StreamingTask(Streaming streaming, std::atomic<int>& running);
  ~StreamingTask();
  StreamingTask(const StreamingTask&) = delete;
  StreamingTask& operator=(const StreamingTask&) = delete;

  bool streams() const { return streams_; }

 private:
  std::atomic<int>& running_;
  bool counted_;
  bool streams_;
};

}  // namespace padops
