// The interface between the engine and the writers of bytes: runs, rows, and a writer's members.
//
// A writer counts in positions, which are elements of a row, from the beginning of the output and of the source.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "copy/platform.h"

namespace padops {

// A stretch of a row of the output that one rule fills.
struct Run {
  enum class Kind {
    kFilled,    // the fill
    kForward,   // source positions from `source` up
    kBackward,  // source positions from `source` down
    kRepeat,    // the source position `source`, repeated
    kDilated,   // source positions from `source` up, interior fill between them; the first is at `offset` (P6)
    kPeriodic,  // a copy from `source` positions earlier in this output row
  };
  Kind kind;
  int64_t target;
  int64_t count;
  int64_t source = 0;
  int64_t offset = 0;
};

// Neighbouring rows of the output.
struct Rows {
  int64_t target;  // where the first row begins in the output
  int64_t source;  // and in the source
  int64_t length;  // from one row to the next in the output
  int64_t step;    // and in the source
  int64_t count;
};

// A row that is a window between two borders of one kind, as most rows are. A missing border has no positions.
struct BorderedRow {
  Run left;
  Run window;
  Run right;
};

// The row as a window and its borders, if it has that form.
inline std::optional<BorderedRow> bordered_row(const std::vector<Run>& runs) {
  using Kind = Run::Kind;
  const auto is_window = [](const Run& run) { return run.kind == Kind::kForward; };
  const auto no_border = [](Kind kind) { return Run{kind, 0, 0}; };
  const auto is_border = [](const Run& run) { return run.kind != Kind::kDilated && run.kind != Kind::kPeriodic; };
  if (runs.size() == 1 && is_window(runs[0]))
    return BorderedRow{no_border(Kind::kFilled), runs[0], no_border(Kind::kFilled)};
  if (runs.size() == 2 && is_border(runs[0]) && is_border(runs[1]) && (is_window(runs[0]) || is_window(runs[1]))) {
    // If the source appears in two stretches, the longer is the window. Two elements left by a crop may be reflected
    // twice without a window.
    const bool first = is_window(runs[0]) && (!is_window(runs[1]) || runs[0].count >= runs[1].count);
    return first ? BorderedRow{no_border(runs[1].kind), runs[0], runs[1]}
                 : BorderedRow{runs[0], runs[1], no_border(runs[0].kind)};
  }
  if (runs.size() == 3 && runs[0].kind == runs[2].kind && is_window(runs[1]))
    return BorderedRow{runs[0], runs[1], runs[2]};
  return std::nullopt;
}

// Writes the runs of its part of the output one after the other, from the beginning to the end.
template <class Type>
concept Writer = requires(Type& writer, int64_t target, int64_t source, int64_t count) {
  writer.fill(target, count);
  writer.forward(target, source, count);
  writer.backward(target, source, count);
  writer.repeat(target, source, count);
};

// Writes runs of every kind: it can also write a place twice (dilated), and read its own output (periodic). If it has a
// faster loop for whole rows (write_bordered), it writes them and returns true.
template <class Type>
concept AnyOrderWriter = Writer<Type> && requires(const Type& writer, int64_t position, const Rows& rows) {
  writer.dilated(position, position, position, position, position);
  writer.periodic(position, position, position);
  { writer.write_bordered(rows) } -> std::same_as<bool>;
};

// Calls write with the kind of the borders as a compile-time constant.
template <class Write>
PADOPS_INLINE void for_border(Run::Kind kind, const Write& write) {
  using Kind = Run::Kind;
  switch (kind) {  // never another kind: no row has two dilated or two periodic runs
    case Kind::kFilled: return write(std::integral_constant<Kind, Kind::kFilled>{});
    case Kind::kForward: return write(std::integral_constant<Kind, Kind::kForward>{});
    case Kind::kBackward: return write(std::integral_constant<Kind, Kind::kBackward>{});
    case Kind::kRepeat: return write(std::integral_constant<Kind, Kind::kRepeat>{});
    default: return;
  }
}

}  // namespace padops
