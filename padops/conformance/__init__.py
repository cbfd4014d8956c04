"""Runs padops and other implementations of Pad on the same cases; finds new and known divergences from the rules.

Only ``peers/`` imports implementations of Pad.
"""
