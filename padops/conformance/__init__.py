"""padops and every other Pad, on the same cases: who agrees with the rules, who differs, and where that is known.

``cases/`` says what is run, ``peers/`` who runs it, ``divergences.py`` what is known; ``runner.py`` puts them together
and ``record.py`` writes what came out. Nothing here but ``peers/`` imports an implementation of Pad.
"""
