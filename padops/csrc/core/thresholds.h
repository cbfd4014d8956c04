// The sizes that choose a path through the engine. They are parameters, so that a test takes every path with tensors of
// a few kilobytes.
#pragma once

#include <cstdint>

#include "copy/processor.h"

namespace padops {

struct Thresholds {
  // Bytes of output below which one task does all the work: another thread would cost more than it saves.
  int64_t shared = 128 * 1024;

  // Bytes of output from which several threads always save time. Between the two, each node measures (sharing.h).
  int64_t surely_shared = 512 * 1024;

  // Bytes of output of a task, if there are several. Between these two sizes there are eight tasks.
  int64_t min_task = 64 * 1024;
  int64_t max_task = 1024 * 1024;

  // Bytes of source and output together above which a thread that works alone bypasses the caches.
  int64_t streamed = 24 * 1024 * 1024;

  // Several threads bypass the caches only above this multiple of those bytes. Together they have more cache than one
  // thread can use, but no more memory bandwidth. Measured.
  int64_t streaming_threads = 2;

  // Bytes that a streamed row must have for each merge of a run into a cache line. A merge costs as much. Measured.
  int64_t bytes_per_merge = 160;

  // The instruction set of all loops, and the size from which the string instruction copies.
  CopyChoice copy;

  // The thresholds for this processor and its last-level cache, if the system reports them.
  static const Thresholds& of_this_machine();
};

}  // namespace padops
