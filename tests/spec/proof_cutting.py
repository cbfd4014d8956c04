"""How the work is cut: rows into parts, rows among tasks, bytes into cache lines; and SAME padding.

As core/engine.cpp, copy/non_temporal_writer.h and core/amounts.cpp of csrc compute it, for plain integers or a solver's
(``proof_terms``). ``cut`` and SAME are compared with the C++ (``test_proof_formulas``). What the engine keeps to itself
is not: the engine's check runs each task between guards.
"""

from __future__ import annotations

from typing import NamedTuple

from proof_terms import Term, choose, greatest, least, quotient, remainder

LINE = 64  # bytes of a cache line


def cut(length: Term, parts: Term, part: Term) -> Term:
    """Where part ``part`` of a row begins; the last one ends where part ``parts`` would begin."""
    return quotient(length, parts) * part + least(part, remainder(length, parts))


def cut_by_product(length: Term, parts: Term, part: Term) -> Term:
    """The obvious formula, whose product is too large for the longest rows."""
    return quotient(length * part, parts)


def part_of(length: Term, parts: Term, position: Term) -> Term:
    """The part that a position of the row is in."""
    share, longer = quotient(length, parts), remainder(length, parts)
    behind = position - (share + 1) * longer
    return choose(behind < 0, lambda: quotient(position, share + 1), lambda: longer + quotient(behind, share))


def tasks_of(rows: Term, rows_per_task: Term, parts: Term) -> Term:
    return quotient(rows + rows_per_task - 1, rows_per_task) * parts


def rows_of(group: Term, rows: Term, rows_per_task: Term) -> tuple[Term, Term]:
    """The first row of a group of rows, and the one behind its last; task ``t`` is a part of group ``t / parts``."""
    first = group * rows_per_task
    return first, least(rows, first + rows_per_task)


def unit_of(element: Term, bits: int) -> Term:
    """Rows that end at a whole byte together; a position of a row is ``element`` bits, of elements of ``bits`` each."""
    return choose(remainder(element, 8) == 0, lambda: 1, lambda: 8 // bits)


def rows_together(task_bytes: Term, row_bytes: Term, unit: Term) -> Term:
    """The rows of a task."""
    return greatest(quotient(quotient(task_bytes, row_bytes), unit), 1) * unit


class Line(NamedTuple):
    """NonTemporalWriter's state: the line at ``to`` has ``held`` bytes so far, the first ``before`` not its own."""

    to: Term
    before: Term
    held: Term


class Appended(NamedTuple):
    """What one ``append`` does: it writes ``first`` up to ``behind`` of the line that it held, then whole lines."""

    line: Line
    first: Term
    behind: Term
    lines_from: Term  # where the whole lines begin that are streamed from the source, or from the pattern
    lines_bytes: Term
    room: Term  # bytes of what is appended that went to the first line, if that was written


def line_at(address: Term) -> Line:
    before = remainder(address, LINE)
    return Line(address - before, before, before)


def append(line: Line, count: Term) -> Appended:
    room = LINE - line.held

    def flushed() -> Appended:
        rest = count - room
        held = remainder(rest, LINE)
        lines = rest - held
        to = line.to + LINE
        return Appended(Line(to + lines, 0, held), line.to + line.before, to, to, lines, room)

    written = line.to + line.before
    kept = lambda: Appended(line._replace(held=line.held + count), written, written, written, 0, room)
    return choose(count < room, kept, flushed)


def same_padding(size: Term, kernel: Term, stride: Term, dilation: Term) -> tuple[Term, Term]:
    """The smaller and the larger amount of an axis (S1)."""
    outputs = quotient(size, stride) + choose(remainder(size, stride) != 0, lambda: 1, lambda: 0)
    total = greatest((outputs - 1) * stride - size + (kernel - 1) * dilation + 1, 0)
    small = quotient(total, 2)
    return small, total - small


def same_padding_size_last(size: Term, kernel: Term, stride: Term, dilation: Term) -> Term:
    """The total before it is clamped, in the order of rule S1: too large on the way for dims near 2**63."""
    outputs = quotient(size, stride) + choose(remainder(size, stride) != 0, lambda: 1, lambda: 0)
    return (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size
