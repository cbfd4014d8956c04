"""Compares padops with the other Pads of this machine, side by side in one run.

``workloads.py`` lists the Pads, ``implementations.py`` the implementations, ``runner.py`` measures the times;
``tables.py`` and ``plot.py`` show them, ``results.py`` writes and reads them, ``command.py`` is ``padops bench``.
``provider.py`` times the execution provider on the models of ``networks.py``; ``provider_tables.py`` shows the times.

``beside.py`` times the networks of ``padded_networks.py`` on other execution providers, ``placement.py`` tells in which
parts they run there, and ``beside_tables.py`` shows the results.
"""
