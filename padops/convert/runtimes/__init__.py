"""What ONNX Runtime does with a Pad that is left as it is, as far as that is known without running it.

``builtin_support.py`` has what ONNX Runtime's own Pad can do, and ``builtin_rules.py`` judges a Pad by that;
``beside_rules.py`` does so for sessions that have other execution providers as well.
"""
