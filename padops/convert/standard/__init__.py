"""Writes Pads as standard ONNX operators, for models that run without the native library.

``pads/pad_info.py`` describes each Pad to these modules. ``rewrite.py`` puts the written nodes into the model.
"""
