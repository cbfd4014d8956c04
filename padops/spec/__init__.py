"""The specification of Pad: plans, element types, operators, a reference in NumPy, and schemas for ``onnx``."""
