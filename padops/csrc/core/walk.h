// The walk of a task along its rows: a member of Engine for each writer. Each member compiles slowly, so separate files
// instantiate them and compile in parallel.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "copy/byte_writer.h"
#include "copy/non_temporal_writer.h"
#include "core/engine.h"

namespace padops {

// Writes one run of a row whose first position is `target` in the output and `source` in the source.
template <Writer W>
PADOPS_INLINE void Engine::write_run(W& writer, const Run& run, int64_t target, int64_t source) const {
  switch (run.kind) {  // never another kind: each has its case
    case Run::Kind::kFilled: return writer.fill(target + run.target, run.count);
    case Run::Kind::kForward: return writer.forward(target + run.target, source + run.source, run.count);
    case Run::Kind::kBackward: return writer.backward(target + run.target, source + run.source, run.count);
    case Run::Kind::kRepeat: return writer.repeat(target + run.target, source + run.source, run.count);
    case Run::Kind::kDilated:
      if constexpr (AnyOrderWriter<W>)
        return writer.dilated(target + run.target, source + run.source, run.count, run.offset, inner_.interior + 1);
      break;
    case Run::Kind::kPeriodic:
      if constexpr (AnyOrderWriter<W>) return writer.periodic(target + run.target, run.source, run.count);
      break;
  }
  // Impossible: choose_streaming picks a writer for such rows. A row with a hole would be worse than a dead process.
  assert(!"the writer lacks this kind of run");
  std::abort();
}

// Writes neighbouring rows of the output.
template <Writer W>
void Engine::write_rows(W& writer, const Rows& rows) const {
  if constexpr (AnyOrderWriter<W>)
    if (writer.write_bordered(rows)) return;
  int64_t target = rows.target;
  int64_t source = rows.source;
  for (int64_t i = 0; i < rows.count; ++i, target += rows.length, source += rows.step)
    for (const Run& run : runs_) write_run(writer, run, target, source);
}

// Writes a part of a row.
template <Writer W>
void Engine::write_part(W& writer, const Task& task, int64_t source) const {
  for (int64_t at = task.begin; at < task.end;) {
    const Run run = run_at(inner_, mode_, at, task.end);
    write_run(writer, run, task.row * inner_.output, source);
    at += run.count;
  }
}

// Writes `count` neighbouring rows from `row` on, where the last outer axis is at `index`. The other outer axes begin
// at `source` in the source.
template <Writer W>
void Engine::write_group(W& writer, int64_t row, int64_t index, int64_t count, int64_t source) const {
  const auto& [axis, stride] = outer_.back();
  const int64_t length = inner_.output;
  int64_t target = row * length;
  const int64_t end = index + count;
  while (index < end) {
    if (axis.interior != 0) {
      const int64_t at = source_index(axis, mode_, index++);
      if (at == kFill) {
        writer.fill(target, length);
      } else {
        write_rows(writer, {target, source + at * stride, length, 0, 1});
      }
      target += length;
      continue;
    }
    const Run run = run_at(axis, mode_, index, end);
    if (run.kind == Run::Kind::kFilled) {
      writer.fill(target, run.count * length);
      target += run.count * length;
    } else {
      const int64_t step = run.kind == Run::Kind::kForward ? stride : run.kind == Run::Kind::kBackward ? -stride : 0;
      write_rows(writer, {target, source + run.source * stride, length, step, run.count});
      target += run.count * length;
    }
    index += run.count;
  }
}

// The begin of an outer axis' position in the source, if the axes outside it begin at `source`; or kFill.
inline int64_t Engine::further(int64_t source, const Outer& outer, int64_t position) const {
  if (source == kFill) return kFill;
  const int64_t at = source_index(outer.axis, mode_, position);
  return at == kFill ? kFill : source + at * outer.stride;
}

// The number of groups with the same order in source and output, from this position of the other outer axes on. A group
// is all rows of the last outer axis, which is untouched. At least one group, else as many as fit into `rows`.
inline int64_t Engine::equal_groups(const int64_t* position, int64_t rows) const {
  if (outer_.size() < 2) return 1;
  const size_t last = outer_.size() - 2;
  const AxisPlan& axis = outer_[last].axis;
  const int64_t offset = position[last] - axis.begin;
  if (axis.interior != 0 || offset < 0 || offset >= axis.extent) return 1;
  return std::min({axis.extent - offset, axis.output - position[last], rows / outer_.back().axis.output});
}

// Walks along the rows of a task, one stretch of the last outer axis after the other.
template <Writer W>
void Engine::walk(const Task& task, W& writer) const {
  const auto& [axis, stride] = outer_.back();
  const bool plain = axis.untouched();
  const size_t prefix = outer_.size() - 1;
  int64_t position[kMaxAxes];
  int64_t begin[kMaxAxes + 1] = {};  // the begin of the outer axes up to one in the source, or kFill
  int64_t index = task.row % axis.output;
  int64_t above = task.row / axis.output;
  for (size_t i = prefix; i > 0; --i) {
    position[i - 1] = above % outer_[i - 1].axis.output;
    above /= outer_[i - 1].axis.output;
  }
  const int64_t stop = task.row + task.rows;
  size_t moved = 0;  // from this axis on, the position has changed
  for (int64_t row = task.row; row < stop;) {
    for (size_t i = moved; i < prefix; ++i) begin[i + 1] = further(begin[i], outer_[i], position[i]);
    const int64_t count = std::min(stop - row, axis.output - index);
    const int64_t source = parts_ > 1 ? further(begin[prefix], outer_.back(), index) : begin[prefix];
    if (source == kFill) {
      writer.fill(row * inner_.output + task.begin, (count - 1) * inner_.output + task.end - task.begin);
    } else if (parts_ > 1) {
      write_part(writer, task, source);
    } else if (plain) {
      const int64_t groups = index == 0 ? equal_groups(position, stop - row) : 1;
      const int64_t together = groups > 1 ? groups * axis.output : count;
      write_rows(writer, {row * inner_.output, source + index * stride, inner_.output, stride, together});
      if (groups > 1) position[prefix - 1] += groups - 1;
      row += together - count;
    } else {
      write_group(writer, row, index, count, source);
    }
    row += count;
    index = 0;
    for (moved = prefix; moved > 0; --moved) {
      if (++position[moved - 1] < outer_[moved - 1].axis.output) break;
      position[moved - 1] = 0;
    }
    if (moved > 0) --moved;
  }
}

template <size_t kElement>
void Engine::run_bytes(const Task& task, const char* source, char* output, const char* pattern,
                       [[maybe_unused]] bool streams) const {
  const size_t element = element_ / 8;
#if PADOPS_SSE2
  if (streams) {
    const int64_t begin = task.row * inner_.output + task.begin;
    const char* source_end = source + source_size_ * element;
    NonTemporalWriter<kElement> writer(source, source_end, output, output + begin * element, pattern, element,
                                       thresholds_.copy.avx2);
    walk(task, writer);
    writer.finish();
    return;
  }
#endif
  const auto string_from = static_cast<size_t>(thresholds_.copy.string_from);
  with_target(thresholds_.copy.avx2, [&]<class Target>(Target) {
    ByteWriter<kElement, Target> writer(source, output, pattern, element, bordered_, string_from);
    walk(task, writer);
  });
}

}  // namespace padops
