"""Writes Pads as standard ONNX operators, for models that run without the native library.

They read a Pad as ``pads/pad_info.py`` describes it. ``rewrite.py`` puts their nodes into the model.
"""
