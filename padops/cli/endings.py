"""Describes the end of a conversion: why verification is undecided, and which files were written."""

from __future__ import annotations

from padops.convert.records import Conversion
from padops.convert.verify.choice import shortcoming


def reservations(conversion: Conversion) -> tuple[int, str]:
    """Returns the exit code of a finished conversion: 0 and "", or 5 and why padops could not compare the models."""
    verification = conversion.verification
    error = None if verification is None else shortcoming(verification, strict=False)
    if verification is None or error is None:
        return 0, ""
    return error.exit_code, f"not verified: {(*verification.doubts, *verification.unproved)[0]}"


def what_was_written(conversion: Conversion, would: str | None, dry_run: bool) -> str:
    """Names the files that were written; ``would`` is the file that would have been written."""
    if conversion.output is None:
        named = f"; {would} would have been" if would else ""
        return "nothing was written" + (f" (dry run{named})" if dry_run else "")
    files = [f"{file.name} ({file.bytes:,} bytes)" for file in conversion.outputs if file.written]
    kept = [file.name for file in conversion.outputs if not file.written]
    return f"wrote {', '.join(files)}" + (f"; its data stay in {', '.join(kept)}" if kept else "")
