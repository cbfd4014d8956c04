"""The files of a conversion: which paths are allowed, and how all files are written or none."""
