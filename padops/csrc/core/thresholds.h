// The sizes that choose a way through the engine. They are parameters and not constants, so that a check takes every
// way with tensors of a few kilobytes.
#pragma once

#include <cstdint>

#include "copy/processor.h"

namespace padops {

struct Thresholds {
  // Bytes of output below which one task does all the work: another thread would cost more than it saves.
  int64_t shared = 128 * 1024;

  // Bytes of output from which several threads surely save time. In between it is tried (sharing.h).
  int64_t surely_shared = 512 * 1024;

  // Bytes of output of a task, where there are several. Between these two there are eight tasks.
  int64_t min_task = 64 * 1024;
  int64_t max_task = 1024 * 1024;

  // Bytes of source and output together above which a thread that works alone bypasses the caches.
  int64_t streamed = 24 * 1024 * 1024;

  // Several threads bypass the caches only above so many times those bytes. Together they have more cache than one of
  // them can use, but no more memory bandwidth. Measured.
  int64_t streaming_threads = 2;

  // Bytes that a streamed row must have for each merge of a run into a cache line. A merge costs as much. Measured.
  int64_t bytes_per_merge = 160;

  // The instruction set of all loops, and from where on the string instruction copies.
  CopyChoice copy;

  // What the processor and the size of its last-level cache suggest, where the system tells them.
  static const Thresholds& of_this_machine();
};

}  // namespace padops
