"""Another file format, read as an ONNX model: the OpenVINO IR."""
