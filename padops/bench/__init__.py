"""Compares padops with the other Pads of this machine, side by side in one run.

``workloads.py`` lists the Pads, ``implementations.py`` the implementations, ``timing.py`` measures their times,
``table.py`` shows, writes and reads the measurements, ``command.py`` is ``padops bench``.
"""
