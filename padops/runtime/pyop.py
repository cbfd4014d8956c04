"""Pad as a Python kernel of onnxruntime-extensions: to study, patch and run padops without its compiled library.

The kernel is one operator, ``Pad`` of the domain ``padops.pyop``. Its body is ``padops.spec.reference``: a patch of the
reference takes effect at a session's next run. A kernel in Python has the following limits.

* It always has ``SLOTS`` inputs, and all attributes are strings: see ``padops.spec.pyop_node``.
* A tensor of float16, or of a type that NumPy itself lacks, aborts the process as it enters or leaves Python; the
  converter refuses these types. Strings end at their first NUL, and a string that is not UTF-8 aborts the process.
* The extensions turn an output into a list and back into an array, which takes 70 ms for 10**6 floats, makes signalling
  NaNs quiet and corrupts uint64. So the body returns an array whose ``tolist`` returns the array itself: this takes 0.5
  ms and keeps every bit. The first registration checks that the installed extensions accept this array.
* An exception in a body aborts the process, so the body logs it and returns an empty tensor; :func:`pyop_errors` lists
  failed calls. The process still aborts if the caller has bound an output of another shape.
* Session options accept the library of the extensions only once, and ignore kernels that are defined afterwards. So
  ``import padops`` defines the kernel if onnxruntime_extensions is loaded, and :func:`register` first checks whether
  the options have the library.
"""

from __future__ import annotations

import _thread
import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from padops.spec import reference
from padops.spec.dtypes import by_name
from padops.spec.plan import PadError
from padops.spec.pyop_node import ATTRIBUTES, DOMAIN, OP_TYPE, SLOTS, TYPES, VERSION, decode, encode

if TYPE_CHECKING:
    import onnxruntime

KEPT_ERRORS = 1000
EXTENSIONS, KNOWN = "ai.onnx.contrib", "StringLower"  # an operator in every release of onnxruntime-extensions
SURELY_THERE = 1 << 30  # bytes; the body tries to allocate a larger output before the runtime does

_log = logging.getLogger("padops.pyop")
_errors: deque[PyOpError] = deque(maxlen=KEPT_ERRORS)
_collecting: list[PyOpError] | None = None
_preparing = threading.Lock()


@dataclass(frozen=True)
class PyOpError:
    """A call of a kernel that failed, and therefore returned an empty tensor.

    Attributes:
        op_type: The operator that the node stands for, such as ``"Pad_18"``.
        node: The node's name.
        rule: The label of the broken rule (docs/semantics.md), or None for another error.
        message: The full text, as in an exception of the native library or of ``padops.spec.reference``.
    """

    op_type: str
    node: str
    rule: str | None
    message: str


def pyop_errors(clear: bool = False) -> list[PyOpError]:
    """Return the failed calls of Python kernels in this process, oldest first; at most the latest thousand.

    A session cannot raise an error for a failed call: see the head of this module.

    Args:
        clear: Whether to empty the list.
    """
    found = list(_errors)
    if clear:
        _errors.clear()
    return found


@contextmanager
def collected() -> Iterator[list[PyOpError]]:
    """Yield a list of the failed calls during a ``with`` block; :func:`pyop_errors` and the log omit these calls."""
    global _collecting
    outer, _collecting = _collecting, []
    try:
        yield _collecting
    finally:
        _collecting = outer


class _AsItIs(np.ndarray):
    """An array of which ``flatten().tolist()`` is the array itself, not a copy or a list."""

    def flatten(self, order: Any = "C") -> np.ndarray:
        return self.reshape(-1)

    def tolist(self) -> np.ndarray:  # type: ignore[override]  # not a list, on purpose: see the head of this module
        return self.view(np.ndarray)


def _body(*arrays: np.ndarray, **fields: str) -> np.ndarray:
    """Run the kernel; never raise, because an exception would abort the process."""
    data = arrays[0]
    try:
        output = reference.run(*decode(fields, arrays))
        if output.dtype != data.dtype:
            raise TypeError(f"the patched reference returns {output.dtype} for data of {data.dtype}")
        if output.nbytes > SURELY_THERE:
            np.empty_like(output)  # the runtime allocates as much, and aborts the process if it cannot
        return output if output.dtype == object else output.view(_AsItIs)
    except BaseException as error:
        _keep(error, fields)
        return np.empty([0] * max(data.ndim, 1), data.dtype)


def _keep(error: BaseException, fields: Mapping[str, str]) -> None:
    """Record and log a failed call; raise nothing, not even for a failing log handler or Ctrl-C."""
    op_type, node = fields.get("op", OP_TYPE), fields.get("node", "")
    rule = error.rule if isinstance(error, PadError) else None
    message = str(error) if rule else f"padops::{op_type} '{node}': {type(error).__name__}: {error}"
    record = PyOpError(op_type, node, rule, message)
    if isinstance(error, KeyboardInterrupt):  # not raised here: a timer repeats it after the run or in a later call
        again: Callable[[], object] = _thread.interrupt_main
        if os.name == "posix":  # a signal also wakes a waiting main thread
            again = partial(os.kill, os.getpid(), signal.SIGINT)
        timer = threading.Timer(0.1, again)
        timer.daemon = True
        timer.start()
    if _collecting is not None:
        _collecting.append(record)
        return
    _errors.append(record)
    try:
        _log.error("%s; the output is an empty tensor", message, exc_info=None if rule else error)
    except BaseException as failure:
        _errors.append(PyOpError(op_type, node, None, f"logging failed: {type(failure).__name__}: {failure}"))


def register(session_options: onnxruntime.SessionOptions, extensions: bool = True) -> None:
    """Register the library of onnxruntime-extensions, which includes the kernel; see ``padops.register``."""
    library = extensions_library()
    with _preparing:
        define()
        _check()
    if _has_kernel(session_options) or not extensions:
        return
    try:
        session_options.register_custom_ops_library(library)
    except Exception as error:
        raise RuntimeError(f"onnxruntime could not load onnxruntime-extensions: {error}") from error


def _has_kernel(session_options: onnxruntime.SessionOptions) -> bool:
    """Return whether the session options include the kernel.

    Options do not expose their libraries. So this function loads a model whose last operator does not exist. The error
    comes before onnxruntime creates providers or writes anything, and names the first unknown operator.
    """
    import onnxruntime

    told = ""
    profiling, session_options.enable_profiling = session_options.enable_profiling, False
    try:
        kernel = (OP_TYPE, DOMAIN, encode("Pad_2", {}, [True]))
        model = _chain("string", (KNOWN, EXTENSIONS, {}), kernel, ("Absent", DOMAIN, {}))
        onnxruntime.InferenceSession(model, session_options, enable_fallback=0)
    except Exception as error:  # onnxruntime's exceptions have no common base class
        told = str(error)
    finally:
        session_options.enable_profiling = profiling
    if f"{DOMAIN}:Absent(" in told:
        return True
    if f"{EXTENSIONS}:{KNOWN}(" in told:
        return False
    if f"{DOMAIN}:{OP_TYPE}(" in told:
        when = "from before padops' kernels were defined"
    elif "Conflicting with a registered kernel" in told and (EXTENSIONS in told or DOMAIN in told):
        when = "twice"
    else:
        raise RuntimeError(f"onnxruntime refuses session_options: {told}")
    raise ValueError(
        f"session_options have the library of onnxruntime-extensions {when}, and onnxruntime accepts it only once. "
        "Create new SessionOptions. Then call only padops.register(options, backend='pyop'), which also registers that "
        "library; or call padops.register(options, backend='pyop', extensions=False) before you register that library "
        "yourself; or import onnxruntime_extensions before padops"
    )


def extensions_library() -> str:
    """Return the path of the library of onnxruntime-extensions."""
    try:
        import onnxruntime_extensions
    except ImportError as error:
        raise RuntimeError(
            "Python kernels need onnxruntime-extensions, which cannot be imported "
            f'({error}): pip install "padops[pyop]", with Python 3.13 or older'
        ) from error
    path: str = onnxruntime_extensions.get_library_path()
    return path


@cache
def define() -> None:
    """Define a kernel for each element type of the data; ``padops.spec.reference`` checks the other inputs' types."""
    from onnxruntime_extensions import PyCustomOpDef, onnx_op

    attributes = dict.fromkeys(ATTRIBUTES, PyCustomOpDef.dt_string)
    for kind in (by_name(name).ort for name in TYPES):
        inputs = [kind, *[PyCustomOpDef.undefined] * (SLOTS - 1)]
        onnx_op(op_type=f"{DOMAIN}::{OP_TYPE}", inputs=inputs, outputs=[kind], attrs=attributes)(_body)


@cache
def _check() -> None:
    """Check that the extensions keep bits that a Python list would lose; raise RuntimeError if they do not."""
    import onnxruntime
    import onnxruntime_extensions as extensions

    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(extensions_library())
    signalling = np.array([[[0x7F800001, 0xFF800002]]], np.uint32).view(np.float32)
    fields = encode("SamePad_1", {"kernel_shape": [2], "mode": "reflect"}, [True])  # it appends the first element
    for name, array in (("float", signalling), ("uint64", np.array([[[2**64 - 1, 1]]], np.uint64))):
        model = _chain(name, (OP_TYPE, DOMAIN, fields))
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        output = session.run(None, {"x": array})[0]
        if output.tobytes() != array[..., [0, 1, 0]].tobytes():
            raise RuntimeError(
                f"onnxruntime-extensions {extensions.__version__} changes the bits of {array.dtype.name} on their way "
                "from Python, so backend 'pyop' does not work with this release"
            )


def _chain(type_name: str, *nodes: tuple[str, str, dict[str, str]]) -> bytes:
    """Return a model of a chain of nodes (operator, domain, attributes); the model's input x has two elements."""
    from onnx import helper

    kind, names = by_name(type_name).onnx, ["x", *map(str, range(1, len(nodes))), "y"]
    made = []
    for (op, domain, fields), name, output in zip(nodes, names, names[1:]):
        absent = ["empty"] * (SLOTS - 1) if op == OP_TYPE else []
        made.append(helper.make_node(op, [name, *absent], [output], domain=domain, **fields))
    given, returned = (helper.make_tensor_value_info(name, kind, [1, 1, size]) for name, size in (("x", 2), ("y", 3)))
    empty = helper.make_tensor("empty", by_name("int64").onnx, [0], [])
    graph = helper.make_graph(made, "check", [given], [returned], [empty])
    imports = [helper.make_opsetid(*row) for row in (("", 18), (DOMAIN, VERSION), (EXTENSIONS, 1))]
    content: bytes = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    return content
