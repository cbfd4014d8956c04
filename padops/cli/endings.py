"""How a conversion ended, in words: what verification holds against it, and the files that were written."""

from __future__ import annotations

from padops.convert.conversion import Conversion
from padops.convert.verify.choice import shortcoming


def reservations(conversion: Conversion) -> tuple[int, str]:
    """The exit code of a conversion that was not refused: 0, or 5 where nothing could be compared; and then the reason.

    Args:
        conversion: What was done.
    """
    verification = conversion.verification
    error = None if verification is None else shortcoming(verification, strict=False)
    if verification is None or error is None:
        return 0, ""
    return error.exit_code, f"not verified: {(*verification.doubts, *verification.unproved)[0]}"


def what_was_written(conversion: Conversion, would: str | None, dry_run: bool) -> str:
    """The files that were written, in words.

    Args:
        conversion: What was done.
        would: The file that would have been written.
        dry_run: Whether nothing was to be written.
    """
    if conversion.output is None:
        named = f"; {would} would have been" if would else ""
        return "nothing was written" + (f" (dry run{named})" if dry_run else "")
    files = [f"{file.name} ({file.bytes:,} bytes)" for file in conversion.outputs if file.written]
    kept = [file.name for file in conversion.outputs if not file.written]
    return f"wrote {', '.join(files)}" + (f"; its data stay in {', '.join(kept)}" if kept else "")
