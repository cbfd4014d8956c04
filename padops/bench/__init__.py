"""Compares padops with the other Pads of this machine, side by side in one run."""
