"""padops against the other Pads of this machine, side by side in one run.

``workloads.py`` lists what is padded, ``contestants.py`` who pads it, ``runner.py`` takes the times; ``tables.py`` prints.
"""

from padops.bench.runner import Measurement, run
from padops.bench.workloads import WORKLOADS, Workload

__all__ = ["WORKLOADS", "Measurement", "Workload", "run"]
