"""A function of nGraph's, as parsed JSON has it, becomes an ONNX message; ``ngraph_json.py`` reads the file.

``fields.py`` checks the values and makes constants; ``builder.py`` makes inputs, nodes and outputs.
"""
