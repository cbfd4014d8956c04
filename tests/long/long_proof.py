"""What is proved of random models: no wrong mutant of a thousand, and most conversions.

``PADOPS_MUTANTS`` sets how many models are taken, of ten a process, and ``PADOPS_SEED`` which ones.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from children import asked_of

SEED, COUNT = int(os.environ.get("PADOPS_SEED", "1")), int(os.environ.get("PADOPS_MUTANTS", "280"))
BATCH, EACH, WRONG = 10, 10, 1000
DEFAULT = "{}"  # the options of a conversion that says nothing
SHARE = 0.8  # of the conversions with the default options


@cache
def findings() -> tuple[Counter[tuple[str, str]], Counter[str], list[str]]:
    """The conversions by options and verdict, the wrong mutants by verdict, and a line for each harm.

    Harm is a wrong model that is proved, one that runs and that padops refuses to read, and whatever else is raised.
    """
    conversions, verdicts, harm = Counter[tuple[str, str]](), Counter[str](), []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        variables, firsts = {"OPENBLAS_NUM_THREADS": "1"}, range(0, COUNT, BATCH)
        tried = lambda first: asked_of("mutant_server.py", variables, b"", SEED, first, BATCH, EACH)
        rows = [row for batch in pool.map(tried, firsts) for row in batch]
    assert len(rows) == BATCH * len(firsts)
    for row in rows:
        said, name = row["conversion"], f"{row['number']} {row['options']}"
        if said not in ("refused", "not run"):
            conversions[str(row["options"]), said] += 1
            if (said.startswith("proved") and row["did"] != "same") or said.startswith("raised"):
                harm.append(f"{name}: the conversion is {said}, and a run is {row['did']}")
        for what, verdict, did in row["mutants"]:
            verdicts[verdict] += 1
            if verdict == "proved" or verdict.startswith("raised") or (verdict == "refused" and did != "fails"):
                harm.append(f"{name}: {what}: {verdict}, and a run is {did}")
    print(*(f"{count:6,} {options}: {said}" for (options, said), count in sorted(conversions.items())), sep="\n")
    print(*(f"{count:6,} wrong mutants: {verdict}" for verdict, count in sorted(verdicts.items())), *harm, sep="\n")
    return conversions, verdicts, harm


def test_no_wrong_mutant_is_proved(tally) -> None:
    _, verdicts, harm = findings()
    assert verdicts.total() >= WRONG or "PADOPS_MUTANTS" in os.environ
    what = "conversions of random models with one change that a run shows to be wrong: proved all the same"
    tally(what, verdicts.total(), len(harm))


def test_most_wrong_mutants_are_found(tally) -> None:
    _, verdicts, _ = findings()
    unseen = verdicts.total() - verdicts["different"]
    tally("these wrong conversions: not different (up to 10 %)", verdicts.total(), unseen, 0.1)


def test_most_conversions_are_proved(tally) -> None:
    counts = {verdict: count for (options, verdict), count in findings()[0].items() if options == DEFAULT}
    count = sum(counts.values())
    unproved = count - sum(number for verdict, number in counts.items() if verdict.startswith("proved"))
    tally("conversions of random models that padops verify does not prove (up to 20 %)", count, unproved, 1 - SHARE)
