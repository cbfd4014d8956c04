"""What a Pad is: its plan, its element types, its operators, a reference in NumPy, and schemas for ``onnx``."""
