"""Run a case of the conformance suite on an execution provider: its outcome, who runs the Pad, and inspect's verdict.

scripts/provider_cases.py calls it, in the provider's environment.
"""

from __future__ import annotations

from typing import Any


def run_suite(id: str, provider: str, way: str) -> dict[str, Any]:
    """Runs a case in the same way as the provider's peer.

    Args:
        id: The case's id.
        provider: The provider's name.
        way: ``"stock"``; ``"name"``, with padops beside it; or ``"verdict"``, which only runs inspect.

    Returns:
        As in ``provider_cases.run``, but ``outcome`` may also be ``"none"`` (no provider has a kernel) or ``"unknown"``
        (this onnxruntime does not know the type or the opset). An error that the rules require is ``"right"``. ``ran``
        is onnxruntime's report when it creates the session. ``opset`` and ``dtype`` are the case's. ``is_empty``:
        whether the case's data, output or axes are empty. ``verdict``, ``runner`` and ``why`` are the results of
        ``padops.inspect``.
    """
    import peers
    from isolated import other_providers

    import padops
    from padops.conformance import cases
    from padops.conformance.arrays import pack
    from padops.conformance.divergences import add_peers
    from padops.conformance.features import Prepared
    from padops.conformance.judging import judge
    from padops.conformance.peers.ort import require_type
    from padops.conformance.peers.request import Refused, Unsupported, unsupported_where

    row = next(row for row in add_peers(peers.ISOLATED) if row.provider == provider)
    item = Prepared.of(cases.find_case(id))
    request = row.prepared(item.case)
    model = other_providers.model_of(request, provider)
    (pad,) = padops.inspect(model, providers=[provider, "CPUExecutionProvider"]).pads
    told: dict[str, Any] = {"verdict": pad.verdict, "runner": pad.runner, "why": pad.why, "opset": item.case.opset}
    told |= {
        "dtype": item.case.dtype.name,
        "is_empty": bool({"empty-data", "empty-output", "axes-empty"} & item.tags),
    }
    if way == "verdict":
        return told
    ran: list[tuple[str, str, int]] = []
    try:
        with unsupported_where(other_providers.UNSUPPORTED):
            require_type(request.dtype.name)
            session = other_providers.open_session(model, provider, way)
            # onnxruntime does not list WebGPU's nodes, nor a float16 Pad that it runs itself between two Casts.
            parts = session.get_provider_graph_assignment_info()
            ran += [(node.op_type, part.ep_name, 1) for part in parts for node in part.get_nodes()]
            if provider != other_providers.WEBGPU and all(operator != "Pad" for operator, *_ in ran):
                ran.append(("Pad", "CPUExecutionProvider", 1))
            told |= {"providers": session.get_providers(), "ran": ran}
            answer: tuple[str, Any] = "output", pack(other_providers.run_once(session, request))
    except Unsupported as error:
        known = any(text in str(error) for text in other_providers.NO_KERNEL)
        return told | {"outcome": "none" if known else "unknown"}
    except (*other_providers.REFUSALS, Refused) as error:
        answer = "refused", str(error)
        told["said"] = " ".join(str(error).split())[:600]  # the reason is at the end
    outcome, detail = judge(item, answer, row)
    is_refused = answer[0] == "refused"
    # A provider may refuse a Pad that the standard leaves open (P4); padops beside it still runs the Pad.
    is_right = outcome == "agree" and not (is_refused and item.packed is not None)
    return told | {
        "outcome": "right" if is_right else "refused" if is_refused else "wrong",
        "expected": "error" if item.packed is None else "output",
        "detail": detail[:300],
    }
