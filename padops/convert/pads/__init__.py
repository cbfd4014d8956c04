"""What a Pad is, whatever form of a node it came from.

``match.py`` has what a source says of a node, and ``pad_info.py`` describes the Pad for all that decide about it;
``window_operators.py`` has the operators that pad by themselves; ``surroundings.py`` finds the operators around a Pad
that let ONNX Runtime's optimizers change it.
"""
