"""Files that padops writes: whole or not at all, and nothing touched that is not its own.

=================== ==================================================================================
``targets.py``      what may be written where
``interrupts.py``   signals that wait until files are in place
``hidden.py``       the folder that files are made in, and what is left of those whose process was killed
``staging.py``      files made there and renamed into place together
=================== ==================================================================================

It needs the standard library alone: the converter, the conformance suite and the benchmark write with it.
"""
