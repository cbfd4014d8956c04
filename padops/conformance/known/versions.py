"""The versions of each implementation that the known divergences were recorded with, from the oldest to the newest.

What an implementation of another version does otherwise is new behaviour of its own, which is no failure of padops
(``conformance/recorded.py``). Once its results have been looked at, and the divergences changed where they have to be,
its version comes here.
"""

from __future__ import annotations

ONNXRUNTIME = ">=1.20.1,<=1.32.0"
ONNXRUNTIME_SINCE_24 = ">=1.24.0,<=1.32.0"
ONNXRUNTIME_WEB = ">=1.30.0,<=1.30.0"
ORT_OPENVINO = ">=1.24.1,<=1.24.1"
ORT_WEBGPU = ">=1.27.0,<=1.27.0"
ORT_QNN = ">=2.7.0,<=2.7.0"
ONNX = ">=1.21.0,<=1.23.2"
NUMPY = ">=2.1.3,<=2.4.6"
OPENVINO = ">=2026.4.1,<=2026.4.1"
TORCH = ">=2.13.0,<=2.13.0"
JAX = ">=0.10.2,<=0.10.2"
TENSORFLOW = ">=2.21.0,<=2.21.0"
DASK = ">=2026.8.0,<=2026.8.0"
TRACT = ">=0.23.9,<=0.23.9"
TVM = ">=0.27.0.1,<=0.27.0.1"  # 0.27.0.post1
TINYGRAD = ">=0.14.0,<=0.14.0"
OPENCV = ">=5.0.0.93,<=5.0.0.93"

# By the distribution that a peer names first.
RECORDED = {
    "onnxruntime": ONNXRUNTIME,
    "onnxruntime-web": ONNXRUNTIME_WEB,
    "onnxruntime-openvino": ORT_OPENVINO,
    "onnxruntime-webgpu": ORT_WEBGPU,
    "onnxruntime-qnn": ORT_QNN,
    "onnx": ONNX,
    "numpy": NUMPY,
    "openvino": OPENVINO,
    "torch": TORCH,
    "jax": JAX,
    "tensorflow": TENSORFLOW,
    "tensorflow-cpu": TENSORFLOW,
    "dask": DASK,
    "tract": TRACT,
    "apache-tvm": TVM,
    "tinygrad": TINYGRAD,
    "opencv-python-headless": OPENCV,
}
