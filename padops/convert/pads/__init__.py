"""Pads, independent of the form of their nodes, and the operators that pad by themselves."""
