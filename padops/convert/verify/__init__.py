"""Compares the original with the converted model, bit by bit."""
