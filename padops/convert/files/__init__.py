"""The files of a conversion: where they may be, and how all of them are written or none."""
