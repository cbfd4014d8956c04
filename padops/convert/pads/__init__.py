"""Pads, independent of the form of their nodes.

``match.py`` has the result of a matcher; ``pad_info.py`` describes a Pad and the operators around it, for all decisions
about the Pad; ``window_operators.py`` lists the operators that pad by themselves.
"""
