"""What is proved of conversions of random models, and of these conversions with one change that makes them wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

SERVER = Path(__file__).resolve().parents[1] / "processes" / "mutant_server.py"
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
    """Tries so many random models, with at most ``each`` mutants of each conversion.

    Raises:
        RuntimeError: The server died.
    """
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(SERVER), *map(str, (seed, first, count, each))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600 * count)
    if done.returncode or len(done.stdout.splitlines()) != count:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}")
    findings = MutantFindings()
    for row in map(json.loads, done.stdout.splitlines()):
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
