"""Peers with environments of their own; ``environments.py`` says what a file here has."""
