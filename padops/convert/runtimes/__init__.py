"""What ONNX Runtime does with an unchanged Pad, as far as known without running it.

``builtin_support.py`` has the measured facts about ONNX Runtime's own Pad, and ``builtin_rules.py`` judges a Pad by
them; ``beside_rules.py`` judges for sessions with other execution providers.
"""
