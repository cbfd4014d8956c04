"""Writes Pads as standard ONNX operators, for models that run without the native library.

The modules read a Pad as ``pads/pad_info.py`` describes it. ``rewrite.py`` puts the written nodes into the model.
"""
