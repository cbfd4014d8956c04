"""Proofs that two models do the same, without running them."""
