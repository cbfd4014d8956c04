"""Pads in the operators of standard ONNX: what a model runs where the native library is absent, or not wanted.

==================== ================================================================================
``graph_builder.py`` the nodes of one graph, in the form that each opset has; formulas in NumPy: what is known is
                     computed at once, and nodes are written for the rest
``pad_values.py``    the values of a Pad that nodes read: shape, fill, mode, lists, the amounts of each axis in every
                     dialect (P2); refuses Pads that break a rule, and nodes over which ONNX Runtime crashes
``ort_pad.py``       a Pad of any rank: by the Pad of ONNX Runtime where that is right, else by computed indices
``axes.py``          axis by axis, of known rank
``lowering.py``      the whole of one Pad in the fewest nodes, also for an execution provider
``fallback.py``      the whole of all the calls of an operator, by one function
==================== ================================================================================

They take a Pad as ``pads/pad_info.py`` describes it. ``rewrite.py`` makes nodes of them.
"""
