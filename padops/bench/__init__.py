"""padops against the other Pads of this machine, side by side in one run.

``workloads.py`` lists what is padded, ``implementations.py`` who pads it, ``runner.py`` takes the times; ``tables.py``
and ``plot.py`` show them, ``results.py`` writes and reads them, ``command.py`` is ``padops bench``. ``provider.py`` takes
the times of the execution provider, on the models of ``networks.py``; ``provider_tables.py`` shows them.

``beside.py`` takes the networks of ``padded_networks.py`` to other execution providers, ``placement.py`` sees in which parts
they run there, and ``beside_tables.py`` shows it.
"""
