"""Runs padops and every other Pad on the same cases, and finds new and known divergences from the rules.

``cases/`` has the cases, ``peers/`` the implementations, ``divergences.py`` the known divergences; ``runner.py`` runs
the cases and ``record.py`` writes the report. Only ``peers/`` imports implementations of Pad.
"""
