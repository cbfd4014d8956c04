"""padops in ONNX Runtime: the native library in a session, and the operators as a Python kernel."""
