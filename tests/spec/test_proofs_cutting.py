"""The cutting of the work, proved for all integers: each byte of the output is one task's, once; and SAME padding.

What is proved is the arithmetic (``proof_cutting``). ``test_proofs.py`` says what a proof is here.
"""

from __future__ import annotations

import proof_cutting
import pytest
import z3
from proof_cutting import (
    LINE,
    Line,
    append,
    cut,
    line_at,
    part_of,
    rows_of,
    rows_together,
    same_padding,
    tasks_of,
    unit_of,
)
from proof_terms import counterexample, prove, quotient, remainder

length, parts, part, other, position = z3.Ints("length parts part other position")
rows, of_task, group, row, task = z3.Ints("rows of_task group row task")
A_PART = [length >= 0, parts >= 1, part >= 0, part < parts]
A_GROUP = [rows >= 0, of_task >= 1, group >= 0]


def test_the_parts_of_a_row_begin_and_end_with_it() -> None:
    """Part 0 begins at 0, and the last part ends at the row's end."""
    prove(z3.And(cut(length, parts, 0) == 0, cut(length, parts, parts) == length), length >= 0, parts >= 1)


def test_the_parts_of_a_row_are_in_order() -> None:
    """A later part begins where an earlier one ends, or behind it: no two parts share a position."""
    later = [other > part, other <= parts]
    prove(cut(length, parts, part + 1) <= cut(length, parts, other), *A_PART, *later)


def longer_by_one_at_most() -> z3.BoolRef:
    count = proof_cutting.cut(length, parts, part + 1) - proof_cutting.cut(length, parts, part)
    share = quotient(length, parts)
    return z3.And(count >= share, count <= share + 1)


def test_the_parts_of_a_row_are_equally_long() -> None:
    """Each part has length / parts positions or one more; none is empty of a row of as many positions or more."""
    prove(longer_by_one_at_most(), *A_PART)
    prove(cut(length, parts, part) < cut(length, parts, part + 1), *A_PART, parts <= length)


def test_each_position_of_a_row_is_in_a_part() -> None:
    """For each position there is a part, which a formula names, that begins at it or before and ends behind it."""
    found = part_of(length, parts, position)
    inside = z3.And(cut(length, parts, found) <= position, position < cut(length, parts, found + 1))
    prove(z3.And(found >= 0, found < parts, inside), length >= 0, parts >= 1, position >= 0, position < length)


def test_each_row_is_in_one_task() -> None:
    """Row r is in the group r / R, which has a row or more, and in no other; there are ceil(rows / R) groups."""
    first, behind = rows_of(group, rows, of_task)
    groups = tasks_of(rows, of_task, 1)
    owner = quotient(row, of_task)
    prove(z3.And((groups - 1) * of_task < rows, groups * of_task >= rows), rows >= 1, of_task >= 1)
    prove(first < behind, *A_GROUP, group < groups)
    prove(group == owner, *A_GROUP, row >= first, row < behind)
    first, behind = rows_of(owner, rows, of_task)
    prove(z3.And(first <= row, row < behind, owner >= 0, owner < groups), rows >= 1, of_task >= 1, row >= 0, row < rows)


def test_each_task_is_one_part_of_one_group() -> None:
    """Task ``group * parts + part`` is told as that group and that part; all tasks are such, and there are no more."""
    groups = z3.Int("groups")
    given = [parts >= 1, groups >= 0]
    made = group * parts + part
    told = z3.And(made >= 0, made < groups * parts, quotient(made, parts) == group, remainder(made, parts) == part)
    prove(told, *given, group >= 0, group < groups, part >= 0, part < parts)
    group_told, part_told = quotient(task, parts), remainder(task, parts)
    within = z3.And(group_told >= 0, group_told < groups, part_told >= 0, part_told < parts)
    prove(z3.And(within, group_told * parts + part_told == task), *given, task >= 0, task < groups * parts)


@pytest.mark.parametrize("bits", [2, 4])
def test_no_two_tasks_share_a_byte(bits: int) -> None:
    """Of 2- and 4-bit elements, each task begins at a whole byte, and ends before the one of a later task."""
    task_bytes, row_bytes, later, units, elements = z3.Ints("task_bytes row_bytes later units elements")
    whole, packed = 1, 8 // bits
    unit = unit_of(elements * bits, bits)
    prove(z3.Or(unit == packed, z3.And(unit == whole, elements * bits % 8 == 0)))
    for of in (whole, packed):
        together = rows_together(task_bytes, row_bytes, of)
        prove(z3.And(together >= of, together % of == 0), task_bytes >= 1, row_bytes >= 1)
        first, _ = rows_of(later, rows, units * of)
        _, behind = rows_of(group, rows, units * of)
        prove(behind <= first, units >= 1, rows >= 1, group >= 0, later > group)
    # Bits before a task: its rows, each of `length` positions of so many elements.
    prove((group * (units * packed)) * (length * (elements * bits)) % 8 == 0)
    prove((group * (units * whole)) * (length * (8 * elements)) % 8 == 0)
    # What ends at the bit that byte `begin` begins with, or before it, ends in a byte before that.
    end, begin = z3.Ints("end begin")
    prove(quotient(end + 7, 8) <= begin, end >= 0, end <= 8 * begin)


count, known, written = z3.Ints("count known written")


def streaming() -> tuple[Line, list[z3.BoolRef]]:
    """Return a state of NonTemporalWriter that has written up to ``written``, of an input that ends at ``known``."""
    line = Line(*z3.Ints("to before held"))
    return line, [state_holds(line, written, known), line.to >= 0]


def state_holds(line: Line, written_to: z3.ArithRef, known_to: z3.ArithRef) -> z3.BoolRef:
    inside = z3.And(line.before >= 0, line.before <= line.held, line.held < LINE, line.to % LINE == 0)
    return z3.And(inside, line.to + line.before == written_to, line.to + line.held == known_to)


def test_streaming_writes_each_byte_of_the_task_once() -> None:
    """By induction: a task whose part begins at ``a`` writes the bytes from ``a`` to its end, in order, and no others.

    At first nothing is known; each ``append`` writes from where the last has ended, in whole lines, and no further than
    is known; ``finish`` writes the rest. The addresses are those of non_temporal_writer.h; that the stores are of these
    addresses is for the tests of the engine, with guards around the output.
    """
    address = z3.Int("address")
    prove(state_holds(line_at(address), address, address), address >= 0)
    line, given = streaming()
    done = append(line, count)
    given += [count >= 0]
    behind = done.lines_from + done.lines_bytes
    in_order = z3.And(done.first == written, done.first <= done.behind, done.behind == done.lines_from)
    prove(z3.And(in_order, done.lines_bytes >= 0, done.lines_bytes % LINE == 0), *given)
    prove(z3.Implies(done.lines_bytes > 0, done.lines_from % LINE == 0), *given)
    prove(z3.And(state_holds(done.line, behind, known + count), behind <= known + count), *given)
    prove(z3.And(line.to + line.before == written, line.to + line.held == known), *given)  # what finish() writes


def test_streaming_puts_each_byte_where_it_belongs() -> None:
    """Byte k of what is appended goes to ``known + k``: into the line that is held, into whole lines, or is held on."""
    line, given = streaming()
    done = append(line, count)
    k, i = z3.Ints("k i")
    given += [count >= 0]
    # join: byte i of the line, at `to + i`, is from[i - held] from `held` on.
    prove(line.to + i == known + (i - line.held), *given, i >= line.held, i < LINE)
    # stream_lines: byte k of the lines is from[room + k]; and byte i of the line behind them from[room + lines + i].
    flushed = count >= LINE - line.held
    prove(done.lines_from + k == known + (done.room + k), *given, flushed, k >= 0, k < done.lines_bytes)
    held_on = [flushed, i >= 0, i < done.line.held]
    prove(done.line.to + i == known + (done.room + done.lines_bytes + i), *given, *held_on)
    prove(done.room + done.lines_bytes + done.line.held == count, *given, flushed)


def test_streaming_reads_a_line_around_its_source_at_most() -> None:
    """``append_near`` loads a line before and one behind its bytes at most; ``append`` asks it where they are."""
    line, given = streaming()
    done = append(line, count)
    given += [count >= 0]
    prove(z3.And(-line.held >= -LINE, -line.held + LINE <= count + LINE), *given)
    last = done.room + done.lines_bytes
    prove(z3.And(last >= 0, last + LINE <= count + LINE), *given, count >= LINE - line.held)
    # append_edge: between a head and a tail of a line each.
    head = z3.If(count < LINE, count, LINE)
    tail = z3.If(count - head < LINE, count - head, LINE)
    middle = count - head - tail
    prove(z3.And(head - LINE >= 0, head + middle + LINE <= count), count >= 0, middle > 0)


def same_numbers() -> tuple[list[z3.ArithRef], list[z3.BoolRef]]:
    size, kernel, stride, dilation = numbers = z3.Ints("size kernel stride dilation")
    return numbers, [size >= 0, kernel >= 1, stride >= 1, dilation >= 1]


def test_same_padding_halves_a_total() -> None:
    """S1: neither amount is negative, and the larger is that of the smaller or one more."""
    numbers, given = same_numbers()
    small, large = same_padding(*numbers)
    prove(z3.And(small >= 0, large >= small, large <= small + 1), *given)


def windows(numbers: list[z3.ArithRef]) -> z3.BoolRef:
    """How many windows fit into the padded axis is ceil(n / s)."""
    size, kernel, stride, dilation = numbers
    small, large = proof_cutting.same_padding(*numbers)
    reach = (kernel - 1) * dilation + 1
    return (small + size + large - reach) / stride + 1 == (size + stride - 1) / stride


def test_same_padding_has_a_window_for_each_stride() -> None:
    """S1: as many windows fit into the padded axis as strides begin in the data, ceil(n / s)."""
    numbers, given = same_numbers()
    prove(windows(numbers), *given)


def test_a_cut_by_shares_alone_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``min(part, rest)`` the last part ends before the row does; with the whole rest in it, it is too long."""
    shares = lambda length, parts, part: quotient(length, parts) * part
    assert counterexample(shares(length, parts, parts) == length, length >= 0, parts >= 1) is not None
    monkeypatch.setattr(proof_cutting, "cut", lambda *given: z3.If(part + 1 == parts, length, shares(*given)))
    assert counterexample(longer_by_one_at_most(), *A_PART) is not None


def test_tasks_rounded_down_are_refuted() -> None:
    """With ``rows / R`` tasks instead of the next whole number the last rows are no task's."""
    assert counterexample(quotient(rows, of_task) * of_task >= rows, rows >= 1, of_task >= 1) is not None


def test_tasks_of_any_rows_share_a_byte() -> None:
    """Where rows of 4-bit elements are cut one by one, a task can begin within a byte."""
    assert counterexample(group * (length * 4) % 8 == 0, group >= 0, length >= 1) is not None


def test_a_line_that_takes_all_of_its_bytes_is_refuted() -> None:
    """A first line that is written from its beginning, as if nothing before were another's, writes outside the task."""
    address = z3.Int("address")
    line = line_at(address)._replace(before=0)
    first = append(line, count).first
    assert counterexample(first >= address, address >= 0, count >= LINE) is not None


def test_same_padding_of_another_total_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A total that counts the kernel, not its reach, has too few windows."""
    numbers, given = same_numbers()
    right = same_padding
    monkeypatch.setattr(proof_cutting, "same_padding", lambda size, kernel, stride, _: right(size, kernel, stride, 1))
    assert counterexample(windows(numbers), *given) is not None
