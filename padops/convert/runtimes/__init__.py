"""What ONNX Runtime does with an unchanged Pad, as far as known without running it.

``builtin.py`` judges a Pad for ONNX Runtime's own kernels, ``beside.py`` for sessions with other execution providers.
"""
