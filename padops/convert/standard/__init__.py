"""Pads in the operators of standard ONNX: what a model runs where the native library is absent, or not wanted.

============== =======================================================================================
``tape.py``       writes nodes; arithmetic on what is already known is done at once
``subject.py``    one Pad: its inputs and attributes as far as they are known, and its amounts
``extension.py``  P2: from positions of the output to positions of the source
``builtin.py``    by the Pad of ONNX Runtime, on the data or on their indices, where that is right
``anyrank.py``    by indices computed at run time, of any rank
``axes.py``       axis by axis, of known rank
============== =======================================================================================

``fallback.py`` makes functions of them, ``targets/onnx.py`` nodes.
"""
