"""padops' execution providers, under the name and with the functions that onnxruntime expects of a plugin's package."""

from padops import get_ep_name, get_ep_names, get_library_path

__all__ = ["get_ep_name", "get_ep_names", "get_library_path"]
