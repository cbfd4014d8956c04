"""What is proved of conversions of random models, and of these conversions with one change that makes them wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from children import rows_of

DEFAULT = "{}"  # the options of a conversion that says nothing


@dataclass
class MutantFindings:
    """What was found.

    Attributes:
        conversions: By options and verdict, how many conversions.
        verdicts: By verdict, how many wrong mutants.
        harm: A line for each wrong one that was proved, for one that runs and that padops refuses to read, and for
            whatever else a proof raised.
    """

    conversions: Counter[tuple[str, str]] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    harm: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """How many mutants a run has shown to be wrong."""
        return sum(self.verdicts.values())

    def proved(self, options: str = DEFAULT) -> float:
        """The part of the conversions with such options that is proved."""
        counts = {verdict: count for (given, verdict), count in self.conversions.items() if given == options}
        right = sum(count for verdict, count in counts.items() if verdict.startswith("proved"))
        return right / max(sum(counts.values()), 1)


def found(seed: int, first: int, count: int, each: int) -> MutantFindings:
    """Tries so many random models, with at most ``each`` mutants of each conversion."""
    findings = MutantFindings()
    for row in rows_of("mutant_server.py", count, seed, first, count, each):
        options, name = str(row["options"]), f"{row['number']} {row['options']}"
        if row["conversion"] not in ("refused", "not run"):
            findings.conversions[options, row["conversion"]] += 1
            if (
                row["conversion"].startswith("proved")
                and row["did"] != "same"
                or row["conversion"].startswith("raised")
            ):
                findings.harm.append(f"{name}: the conversion is {row['conversion']}, and a run is {row['did']}")
        for what, verdict, did in row["mutants"]:
            findings.verdicts[verdict] += 1
            if verdict == "proved" or verdict.startswith("raised") or (verdict == "refused" and did != "fails"):
                findings.harm.append(f"{name}: {what}: {verdict}, and a run is {did}")
    return findings
