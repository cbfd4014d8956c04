"""``padops conformance history``: the suite on release after release of each implementation."""
