"""What every run of the tests says first: which runtime and which library it is about."""

from __future__ import annotations


def pytest_report_header() -> list[str]:
    import onnxruntime

    import padops

    return [f"onnxruntime {onnxruntime.__version__}: {onnxruntime.__path__[0]}", f"padops: {padops.get_library_path()}"]
