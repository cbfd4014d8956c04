"""Runs padops and other implementations of Pad on the same cases; finds new and known divergences from the rules.

``cases/`` has the cases, ``peers/`` has the implementations, and ``divergences.py`` has the known divergences.
``runner.py`` runs the cases. ``record.py`` writes the report. Only ``peers/`` imports implementations of Pad.
"""
