"""Computes the constant layers of an OpenVINO IR, in a separate process because OpenVINO can crash."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from padops.deferred import import_openvino
from padops.processes import serve

MEMORY = 8 << 30  # bytes of address space: an IR may declare any number of elements

Answer = tuple[str, list[int], bytes]  # element type by OpenVINO's name, dims, the bytes of the elements


def computed(question: tuple[str, Sequence[tuple[str, int]]]) -> list[Answer | None]:
    """Returns the value of each output that ``question`` lists; None for an output that is not constant.

    ``question`` is the path of an IR file, and a list of outputs: the name of a layer, and the number of its output.
    """
    path, wanted = question
    openvino, passes = import_openvino(), import_module("openvino.passes")
    model = openvino.Core().read_model(path)
    layers = {layer.get_friendly_name(): layer for layer in model.get_ops()}
    results = [openvino.opset13.result(layers[name].output(at)) for name, at in wanted]
    part = openvino.Model(results, model.get_parameters(), "constants")
    folding = passes.Manager()
    folding.register_pass(passes.ConstantFolding())
    folding.run_passes(part)
    folded = (result.input_value(0).get_node() for result in results)
    return [
        (layer.get_element_type().get_type_name(), list(layer.shape), layer.data.tobytes())
        if layer.get_type_name() == "Constant"
        else None
        for layer in folded
    ]


if __name__ == "__main__":
    if find_spec("resource"):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    serve(computed)
