"""Compares the speed of padops and of the other Pad implementations on this machine, side by side in one run."""
