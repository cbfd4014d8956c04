"""Pads in the operators of standard ONNX: what a model runs where the native library is absent, or not wanted.

==================== ================================================================================
``numbers.py``       formulas in NumPy: what is known is computed at once, and nodes are written for the rest
``graph_builder.py`` the nodes of one graph, in the form that each opset has
``pad_values.py``    what nodes read of a Pad: shape, fill, mode and lists
``rules.py``         what is refused before it runs, whatever the data are
``amounts.py``       what they mean for each axis, in every dialect
``extension.py``     P2: from positions of the output to positions of the source
``ort_pad.py``       by the Pad of ONNX Runtime, on the data or on their indices, where that is right
``dynamic_rank.py``  by indices computed at run time, of any rank
``axes.py``          axis by axis, of known rank
``exact_casts.py``   of types that standard operators do not have, by casts that lose nothing
``emit_pad.py``      the whole of a Pad of any rank
``emit_function.py`` the whole of all the calls of an operator, by one function
``lowering.py``      the whole of one Pad in the fewest nodes
``defaults.py``      the default of an optional input, written out
==================== ================================================================================

They take a Pad as ``pads/pad_info.py`` describes it. ``fallback.py`` makes functions of them, ``targets/onnx.py``
nodes.
"""
