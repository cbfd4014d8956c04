"""Inputs of a model: the caller's arrays, and random ones, for runs, benchmarks and the verification."""
