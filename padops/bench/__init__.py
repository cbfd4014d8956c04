"""Compares padops with the other Pads of this machine, side by side in one run.

``workloads.py`` lists the Pads, ``implementations.py`` the implementations, ``runner.py`` measures the times;
``tables.py`` shows them, ``results.py`` writes and reads them, ``command.py`` is ``padops bench``.

``provider.py`` times the execution provider on models of ``networks.py``. ``beside.py`` times its networks on other
execution providers, and tells in which parts they run there. ``session_tables.py`` shows the results of both.
"""
