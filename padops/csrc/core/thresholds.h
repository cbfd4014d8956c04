// The sizes that choose a way through the engine. They are parameters and not constants, so that a check takes every way
// on tensors of a few kilobytes.
#pragma once

#include <cstdint>

namespace padops {

struct Thresholds {
  // Bytes of output below which the work is one task: handing it to another thread would cost more.
  int64_t shared = 256 * 1024;

  // Bytes of output of a task, where there are several. Between these two there are eight tasks.
  int64_t min_task = 64 * 1024;
  int64_t max_task = 1024 * 1024;

  // Bytes of source and output together above which stores bypass the caches, where a thread works alone.
  int64_t streamed = 24 * 1024 * 1024;

  // The same is worth it for several threads only from so many times the bytes on: together they have more of a cache
  // than one can use, but no more of the memory. Measured.
  int64_t streaming_threads = 2;

  // Bytes of a streamed row for each time that runs meet in it: what it costs to join them. Measured.
  int64_t bytes_per_joint = 160;

  // Whether AVX2 may be used.
  bool avx2 = false;

  // What the processor and the size of its last cache say, where the system tells them.
  static const Thresholds& of_this_machine();
};

}  // namespace padops
