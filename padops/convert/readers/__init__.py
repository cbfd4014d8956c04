"""Other file formats, read as ONNX models: the OpenVINO IR and the JSON of nGraph."""
