"""Pads, independent of the form of their nodes.

``match.py`` has the result of a matcher; ``pad_info.py`` describes a Pad for all decisions about it, and what stands
around it; ``window_operators.py`` lists the operators that pad by themselves.
"""
