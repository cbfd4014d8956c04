"""Makes the exporters of frameworks write the operators of padops.

**JAX.** ``lax.pad`` has the semantics of nGraph's Pad. Without padops, jax2onnx writes ONNX Pad, and refuses interior
padding. The gradient of every strided slice has interior padding.

**PyTorch.** Without padops, the exporter writes ONNX Pad for every mode and type. ONNX Runtime cannot run all of these:
it has no Pad of int16, uint16 or bfloat16. ONNX Runtime crops before it extends, but PyTorch crops afterwards (P3).

========= ========================= ==============================================================================
PyTorch   becomes                   because
========= ========================= ==============================================================================
constant  ``Pad_25`` constant       Negative amounts crop, whatever the other side's amount is.
circular  ``Pad_25`` wrap           padops refuses constant amounts of both signs on one axis: PyTorch's result for
                                    them depends on uninitialized memory.
reflect   ``OpenVINOPad_12``        Extends before it crops (P3), by at most n - 1 elements (P4).
replicate ``OpenVINOPad_12`` edge   Extends before it crops (P3).
========= ========================= ==============================================================================

The exporter accepts some pads that PyTorch refuses to run: a constant pad that crops an axis to nothing, and a circular
pad of more than n elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from padops.extras import needing
from padops.spec.dialects import DOMAIN, VERSION


def torch_translations() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Returns a translation table with which ``torch.onnx.export`` writes PyTorch's pads as operators of padops.

        >>> torch.onnx.export(
        ...     model, args, "model.onnx", dynamo=True, custom_translation_table=padops.torch_translations()
        ... )

    The table covers pads of every element type that padops has, with negative amounts and with amounts that depend on
    dynamic shapes. In a session with padops registered, the pads return the same bits as in PyTorch.

    Returns:
        The value for ``custom_translation_table``: a function for each of ``aten.pad``, ``aten.constant_pad_nd``, and
        PyTorch's reflection and replication pads of 1 to 3 dims; also for symmetric pads, if this PyTorch has them.

    Raises:
        DependencyError: torch or onnxscript is not installed.
    """
    with needing("padops.torch_translations"):
        from padops.exporters import torch_functions
    return torch_functions.table()


@contextmanager
def jax_pads() -> Iterator[None]:
    """Within this context, jax2onnx converts every ``lax.pad`` to ``padops::NGraphPad_0``.

        >>> with padops.jax_pads():
        ...     model = jax2onnx.to_onnx(jax.grad(loss), [(8, 8)])

    The pads may have any element type that jax2onnx knows; the fill may be a computed value.

    Raises:
        DependencyError: jax2onnx is not installed.
    """
    with needing("padops.jax_pads"):
        from jax2onnx.plugins import plugin_system
    plugin_system.import_all_plugins()
    registry = plugin_system.PLUGIN_REGISTRY
    before = registry["pad"]
    registry["pad"] = _plugin(plugin_system.PrimitiveLeafPlugin)
    try:
        yield
    finally:
        registry["pad"] = before


def _plugin(base: type) -> Any:
    """Returns the plugin that jax2onnx calls to convert an equation of ``lax.pad``."""

    class NGraphPad(base):  # type: ignore[misc]  # jax2onnx has no types
        def lower(self, ctx: Any, eqn: Any) -> None:
            import numpy as np
            import onnx_ir as ir

            (data, fill), (output,) = eqn.invars, eqn.outvars
            dtype = np.dtype(data.aval.dtype)
            config = eqn.params["padding_config"]  # a row for each axis; a scalar has none
            names = ("padding_below", "padding_above", "padding_interior")
            inputs = [
                ctx.get_value_for_var(data, name_hint=ctx.fresh_name("pad_data")),
                ctx.get_value_for_var(fill, name_hint=ctx.fresh_name("pad_fill"), prefer_np_dtype=dtype),
            ]
            amounts = {name: ir.AttrInt64s(name, [int(row[k]) for row in config]) for k, name in enumerate(names)}
            outputs = [ctx.get_value_for_var(output, name_hint=ctx.fresh_name("pad_out"))]
            about = {"domain": DOMAIN, "version": VERSION, "name": ctx.fresh_name("Pad")}
            ctx.builder.add_node_obj(ir.node("NGraphPad_0", inputs, amounts, outputs=outputs, **about))
            for context in (ctx, getattr(ctx, "_lowering_record_owner", ctx)):  # a loop's body, and the model
                context.builder.graph.opset_imports[DOMAIN] = VERSION

    return NGraphPad()
