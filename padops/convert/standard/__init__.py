"""Pads in the operators of standard ONNX: what a model runs where the native library is absent, or not wanted.

==================== ================================================================================
``numbers.py``       formulas in NumPy: what is known is computed at once, and nodes are written for the rest
``graph_builder.py`` the nodes of one graph, in the form that each opset has
``pad_values.py``    the values of a Pad that nodes read: shape, fill, mode and lists
``rules.py``         refuses Pads that break a rule for any data, and nodes over which ONNX Runtime crashes
``extension.py``     the amounts of each axis, in every dialect; P2: from positions of the output to the source's
``ort_pad.py``       by the Pad of ONNX Runtime, on the data or on their indices, where that is right
``axes.py``          axis by axis, of known rank
``exact_casts.py``   of types that standard operators do not have, by casts that lose nothing
``emit_pad.py``      the whole of a Pad of any rank, if need be by indices computed at run time
``emit_function.py`` the whole of all the calls of an operator, by one function
``lowering.py``      the whole of one Pad in the fewest nodes
==================== ================================================================================

They take a Pad as ``pads/pad_info.py`` describes it. ``fallback.py`` makes functions of them, ``targets/onnx.py``
nodes.
"""
