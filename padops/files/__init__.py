"""Files that padops writes: whole or not at all, without touching other files.

=================== ==================================================================================
``targets.py``      what may be written where
``interrupts.py``   signals that wait until files are in place
``staging.py``      files that are made in a hidden folder and renamed into place together
=================== ==================================================================================

The converter, the conformance suite and the benchmark write with this package, which needs the standard library alone.
"""
