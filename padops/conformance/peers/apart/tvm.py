ENVIRONMENT = {
    "name": "tvm",
    "families": ("onnx",),
    "requires": ("apache-tvm==0.27.0.post1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2"),
    "max_cases": 500,
}
