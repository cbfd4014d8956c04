"""The result of ``padops.convert``: the model and its records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from padops.convert.facts import plain
from padops.convert.records import SCHEMA, FileRecord, PadRecord, Status, Verification
from padops.deprecation import warn_deprecated
from padops.runtime.installed import versions

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir


@dataclass(frozen=True, repr=False)
class Conversion:
    """The result of ``padops.convert``.

    Attributes:
        model: The converted model; external tensors refer to the source's files.
        records: One for each Pad, in the order of the graph, then of the functions.
        verification: The verification; None without ``verify``.
        output: The written model file, or None.
        opsets: The opset imports of the source, by domain.
        sources: The source's files: the model, then its data.
        outputs: The output's files: the model, then its data.
        notes: Notes on the whole model.
        no_fallback: For each operator of padops that has no fallback although they were wanted: why, and what to do.
    """

    model: ir.Model
    records: tuple[PadRecord, ...]
    verification: Verification | None = None
    output: Path | None = None
    opsets: dict[str, int] = field(default_factory=dict)
    sources: tuple[FileRecord, ...] = ()
    outputs: tuple[FileRecord, ...] = ()
    notes: tuple[str, ...] = ()
    no_fallback: dict[str, str] = field(default_factory=dict)
    _proto: onnx.ModelProto | None = field(default=None, repr=False, compare=False)
    _corrected: frozenset[str] = field(default=frozenset(), repr=False, compare=False)  # values that may differ
    _fatal: frozenset[str] = field(default=frozenset(), repr=False, compare=False)  # paths of Pads that end every run
    _folder: Path | None = field(default=None, repr=False, compare=False)  # of the external data, if nothing is written
    _write: Callable[[Conversion, Path], Conversion] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """One line, without the model."""
        source = f" of {self.sources[0].name}" if self.sources else ""
        written = "" if self.output is None else f", written to {self.output}"
        return f"<Conversion{source}: {self.summary()}{written}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the model as protobuf messages; external data stay in their files."""
        kept = {row.name: getattr(self, row.name) for row in fields(self) if row.name not in ("model", "_proto")}
        return _restored, (self.proto().SerializeToString(), *_external(self.model), kept)

    def summary(self) -> str:
        """The number of Pads of each status: ``"3 Pads: 2 converted, 1 not needed"``."""
        counts = Counter(record.status for record in self.records)
        parts = [f"{count} {status}" for status, count in counts.items()] or ["0 converted"]
        if lacking := sum(record.op_type in self.no_fallback for record in self.records):
            parts.append(f"{lacking} without a fallback")
        return f"{len(self.records)} Pad{'' if len(self.records) == 1 else 's'}: {', '.join(parts)}"

    def save(self, path: str | os.PathLike[str]) -> Conversion:
        """Writes the model, whole or not at all, and copies its external data beside it.

        Args:
            path: The file to write.

        Returns:
            The conversion, with the written files.

        Raises:
            PadopsError: A file cannot be read or written. No file is left behind.
        """
        assert self._write is not None, "padops.convert made it"
        return self._write(self, Path(path))

    def proto(self) -> onnx.ModelProto:
        """The converted model as a protobuf message; the parts besides Pads are as in the source."""
        import onnx_ir as ir

        return ir.to_proto(self.model) if self._proto is None else self._proto

    @property
    def converted(self) -> tuple[PadRecord, ...]:
        """The Pads that this conversion converted."""
        return tuple(record for record in self.records if record.status == "converted")

    @property
    def unconverted(self) -> tuple[PadRecord, ...]:
        """The Pads that could not be converted."""
        return tuple(record for record in self.records if record.status == "unconverted")

    @property
    def data_folder(self) -> Path | None:
        """The folder of the model's external data; None if it has none, or the model has been written."""
        return self._folder if self.output is None and _external(self.model)[0] is not None else None

    @property
    def left(self) -> tuple[PadRecord, ...]:
        """The former name of ``unconverted``, deprecated since padops 0.1."""
        warn_deprecated("Conversion.left", "Conversion.unconverted", "0.1")
        return self.unconverted

    def to_json(self) -> dict[str, Any]:
        """Everything but the model, as JSON values: what ``--report`` writes."""
        counts = Counter(record.status for record in self.records)
        return {
            "schema": SCHEMA,
            "versions": versions(),
            "source": {"files": plain(self.sources), "opsets": self.opsets},
            "output": {"path": None if self.output is None else str(self.output), "files": plain(self.outputs)},
            "counts": {status: counts[status] for status in get_args(Status)},
            "pads": plain(self.records),
            "verification": plain(self.verification),
            "notes": plain(self.notes),
            "no_fallback": self.no_fallback,
        }


def _external(model: ir.Model) -> tuple[bytes | None, str | None]:
    """For a model with external data, the message of its graph and the folder of the data; else None, None."""
    import onnx_ir as ir

    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    external = next((tensor for tensor in tensors if isinstance(tensor, ir.ExternalTensor)), None)
    return (None, None) if external is None else (ir.to_proto(model).SerializeToString(), os.fspath(external.base_dir))


def _restored(content: bytes, graph: bytes | None, folder: str | None, kept: dict[str, Any]) -> Conversion:
    """Rebuilds a conversion from the parts of ``Conversion.__reduce__``."""
    import onnx
    import onnx_ir as ir

    message = onnx.ModelProto.FromString(content)
    model = ir.from_proto(message if graph is None else onnx.ModelProto.FromString(graph))
    if folder is not None:
        ir.external_data.set_base_dir(model.graph, folder)
        for function in model.functions.values():
            ir.external_data.set_base_dir(function.graph, folder)
    return Conversion(model, _proto=message, **kept)
