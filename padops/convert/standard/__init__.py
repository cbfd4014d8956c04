"""Writes Pads as standard ONNX operators, for models that run without the native library.

==================== ================================================================================
``graph_builder.py`` the nodes of one graph, in the form of each opset; NumPy formulas compute known values at once
                     and write nodes for the rest
``pad_values.py``    the values of a Pad that nodes read: shape, fill, mode, lists, the amounts of each axis in every
                     dialect (P2); refuses Pads that break a rule, and nodes that crash ONNX Runtime
``ort_pad.py``       a Pad of any rank: by ONNX Runtime's Pad if that Pad is right, else by computed indices
``axes.py``          a Pad of known rank, axis by axis
``lowering.py``      one Pad in the fewest nodes, also for an execution provider
``fallback.py``      one function for all calls of an operator
==================== ================================================================================

They read a Pad as ``pads/pad_info.py`` describes it. ``rewrite.py`` puts their nodes into the model.
"""
