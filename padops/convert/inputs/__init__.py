"""Inputs of a model: the caller's arrays, and random arrays, for runs, benchmarks and the verification."""
