"""``padops.InferenceSession``: a session that runs any model, and converts it in memory if necessary."""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from padops.extras import DependencyError, needing_onnxruntime
from padops.runtime.chosen import Chosen, plugin_version
from padops.runtime.model_words import PADS, content_of, is_silent, words_of
from padops.runtime.placing import WAY, one_name_before
from padops.runtime.provider import CPU, EP_NAME, FIRST_MINOR, runtime_minor
from padops.runtime.session import prepare

with needing_onnxruntime("padops.InferenceSession"):
    import onnxruntime

if TYPE_CHECKING:
    import onnx

    from padops.convert import Conversion, PadRecord
    from padops.runtime.chosen import Provider

LOG = logging.getLogger("padops")
DATA_FOLDER = "session.model_external_initializers_file_folder_path"  # configuration entry for a model in memory
FIRST_MINOR_OF_DATA_FOLDER = 22
# The caller's session options, providers, provider options and further arguments.
Given = tuple[onnxruntime.SessionOptions | None, Any, Any, Mapping[str, Any]]
TWICE = (
    "sess_options have a library of operators twice, and onnxruntime accepts it once ({}); for padops' library, use "
    "new SessionOptions without register_custom_ops_library: padops.InferenceSession registers it"
)
WRITING = {"output", "in_place", "report"}  # arguments of padops.convert that write files


class InferenceSession(onnxruntime.InferenceSession):  # type: ignore[misc]  # onnxruntime has no types
    """``onnxruntime.InferenceSession`` for models with any Pads, whether the models have been converted or not.

    The session has the operators of the domains ``padops`` and ``padops.pyop`` if the model uses them. With onnxruntime
    1.24 or newer, it also has padops' execution provider, which runs the Pads of the unchanged model.

    padops first converts the model in memory in three cases: onnxruntime refuses the model before it asks a provider,
    computes wrong results even with the provider, or is older than 1.24 and does not run every Pad. Conversion uses the
    options that the model's Pads need, and changes only Pads that some onnxruntime from 1.20 on does not run correctly.
    If ``padops.inspect`` is unsure or finds no Pad that fails, conversion changes all Pads. The session writes no file.
    External data stay in their files; before onnxruntime 1.22, padops reads the data of a converted model into memory.
    ``padops_records`` and one line of the logger ``padops`` report the conversion, which needs the extra ``convert``.

    The provider comes directly before ``CPUExecutionProvider``, so it claims Pads that the CPU's provider would run.
    Another provider, ``PadopsFirstExecutionProvider``, comes before all providers that are known to fail on some Pads.
    It claims only Pads that a provider behind it would refuse, compute wrong or crash on (``padops/rules/``). To place
    padops elsewhere or to set its options, name ``"PadopsExecutionProvider"`` in ``providers``: see
    ``padops.register``.

    Providers in ``providers`` or ``sess_options`` keep their options and their order. If ``sess_options`` already have
    plugin providers, the session uses a copy of ``sess_options``. The copy lacks added initializers and operators of
    other libraries, because onnxruntime does not expose these. For a model that needs these, pass the providers in
    ``providers`` instead.

    padops disables the optimizers of onnxruntime that may change Pads of the model wrongly (see docs/run.md). If padops
    comes before OpenVINO's provider and the model has a Pad, a session without ``sess_options`` sets
    ``session.intra_op.allow_spinning`` to ``"0"``. If onnxruntime cannot create a provider, the constructor raises the
    error; with ``enable_fallback=1``, it continues with the CPU's provider alone, as onnxruntime's own class does.

    Args:
        path_or_bytes: The model: a path, bytes, or an ``onnx.ModelProto``.
        sess_options: The session's options. Providers and operators that padops registers in these options stay there:
            use new options for other providers. While padops creates the session of a converted model, an
            entry of these options names the folder of the external data.
        providers: Execution providers, first choice first; by default all built-in ones. Each is a name, one or more
            ``onnxruntime.OrtEpDevice`` of one provider, or a pair: a name or devices, then the options.
        provider_options: One mapping for each provider, if ``providers`` has no pairs.
        convert: ``"auto"`` converts the model if necessary, as above. ``"never"`` keeps the model as it is. A mapping
            of arguments for ``padops.convert`` always converts the model with these arguments.
        **kwargs: ``rules`` is a file from ``padops probe`` with the rules of a provider in ``providers``; the default
            is as in ``padops.register``. Other arguments are those of ``onnxruntime.InferenceSession``.

    Attributes:
        padops_records: The outcome for each Pad, as in ``Conversion.records``; empty if the model was not converted.
        padops_rules: The file and version of the rules for each provider, by the provider's name.

    Raises:
        DependencyError: The model needs, or may need, conversion, and the extra ``convert`` is not installed.
        OSError: padops has been installed without its library, or ``rules`` cannot be read.
        PadopsError: padops cannot convert the model with the arguments in ``convert``, or leaves a Pad that
            onnxruntime refuses. Also raised for a model that needs conversion and has a Pad that always breaks a rule.
        RuntimeError: onnxruntime refuses the library; new options cannot reproduce the providers of ``sess_options``;
            or with ``convert="never"``, the model has Python kernels, and the extra ``pyop`` is not installed.
        TypeError: An argument has the wrong type.
        ValueError: ``convert``, ``rules``, a provider or an option of padops' provider is wrong; or the session's
            options already have padops' provider with other options, or have the same library of operators twice.
        Exception: onnxruntime's error, if conversion does not help. If a Pad breaks a rule, the error names the node
            and the rule.
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | bytearray | memoryview | os.PathLike[str] | onnx.ModelProto,
        sess_options: onnxruntime.SessionOptions | None = None,
        providers: Sequence[Provider] | None = None,
        provider_options: Sequence[Mapping[Any, Any]] | None = None,
        *,
        convert: Literal["auto", "never"] | Mapping[str, Any] = "auto",
        **kwargs: Any,
    ) -> None:
        if not isinstance(convert, Mapping) and not (isinstance(convert, str) and convert in ("auto", "never")):
            raise ValueError(f"convert is {convert!r}, expected 'auto', 'never' or arguments of padops.convert")
        self.padops_records: tuple[PadRecord, ...] = ()
        model = content_of(path_or_bytes)
        given = (sess_options, providers, provider_options, kwargs)
        words, unseen = words_of(model), ""
        made = _converted(model, dict(convert)) if isinstance(convert, Mapping) else None
        if made is None and is_silent(words, runtime_minor()):
            made, unseen = _looked_at(model, convert)
        if made is not None:
            self._run_converted(made, given)
            return
        try:
            self._create(model, words, given)
        except (TypeError, ValueError, OSError, DependencyError):  # an argument or the set-up is wrong, not the model
            raise
        except Exception as error:
            if "Domain already set" in str(error):
                raise ValueError(TWICE.format(error)) from error
            asked = convert == "auto" and not words.isdisjoint(PADS)
            made = _converted_after(error, model, one_name_before(error)) if asked else None
            if made is None:
                raise
            try:
                self._run_converted(made, given)
            except (TypeError, ValueError, OSError, DependencyError):
                raise
            except Exception as again:
                if str(again) != str(error):  # else the raised error is enough
                    LOG.warning("onnxruntime also refuses the converted model (%s): %s", made.summary(), again)
                raise error from None
            return
        if unseen:
            warnings.warn(unseen, stacklevel=2)

    def _run_converted(self, made: Conversion, given: Given) -> None:
        from padops.convert.pipeline import same_wrong

        message, folder = made.proto(), made.data_folder
        if folder is not None and runtime_minor() < FIRST_MINOR_OF_DATA_FOLDER:
            message, folder = _with_data_inside(message, folder), None
        elif folder is not None:
            message, folder = really_in(message, folder)
        content = message.SerializeToString()
        self._create(content, words_of(content), given, os.fspath(folder or ""))
        self.padops_records = made.records
        if told := same_wrong(record.facts for record in made.records if record.status == "unconverted"):
            warnings.warn(f"onnxruntime {onnxruntime.__version__} {'; '.join(told)}", stacklevel=3)
        LOG.info("the model was converted in memory: %s", made.summary())

    def _create(
        self, model: str | bytes | os.PathLike[str], words: frozenset[bytes], given: Given, folder: str = ""
    ) -> None:
        """Create the session of a model; the model contains ``words``, and its external data are in ``folder``."""
        self._padops_arguments = (model, given, folder)
        arguments, rules, of_the_caller = prepare(model, words, *given)
        options, before = arguments["sess_options"], ""
        if folder:
            with contextlib.suppress(RuntimeError):  # no such entry; onnxruntime treats an empty one as absent
                before = options.get_session_config_entry(DATA_FOLDER)
            options.add_session_config_entry(DATA_FOLDER, folder)
        try:
            super().__init__(model, **arguments)
        finally:
            if folder and given[0] is not None:  # the caller may use the options again
                options.add_session_config_entry(DATA_FOLDER, before)
        names = self.get_providers()
        self.padops_rules: dict[str, str] = {}
        for row in (rules[name] for name in names if name in rules):
            version = plugin_version(Chosen(row.name, {}))
            of_plugin = f", for version {version} of the plugin" if version else ""
            self.padops_rules[row.name] = f"{row.file} ({row.version}){of_plugin}"
        if of_the_caller and EP_NAME in names and names.index(CPU) < names.index(EP_NAME):
            warnings.warn(
                f"these options name {CPU}, so its own Pad runs what it takes, right or wrong, and padops runs the "
                f"rest; {WAY}",
                stacklevel=3,
            )

    def set_providers(
        self, providers: Sequence[Provider] | None = None, provider_options: Sequence[Mapping[Any, Any]] | None = None
    ) -> None:
        """Recreate the session with other providers; a converted model stays converted.

        Args:
            providers: As for the constructor.
            provider_options: As for the constructor.

        Raises:
            ValueError: The session was created with the caller's options, which keep their providers.
            Exception: As for the constructor.
        """
        model, (options, *_, kwargs), folder = self._padops_arguments
        if options is not None:
            raise ValueError(
                "this session has SessionOptions of yours, which keep their providers; create a new session with new "
                "SessionOptions"
            )
        self._create(model, words_of(model), (None, providers, provider_options, kwargs), folder)


def really_in(message: onnx.ModelProto, folder: Path) -> tuple[onnx.ModelProto, Path]:
    """Follow the links of external data; return the model with the real files' names, and the folder of these files.

    In a Hugging Face cache, files are links to files with other names; onnxruntime follows no link out of the folder.
    """
    from padops.convert.model.nesting import external_tensors

    rows = (row for tensor, _ in external_tensors(message) for row in tensor.external_data)
    names = {row.value for row in rows if row.key == "location"}
    real = {name: Path(os.path.realpath(folder / name)) for name in names}
    parents = {path.parent for path in real.values()}
    if len(parents) != 1 or all(path == Path(os.path.abspath(folder / name)) for name, path in real.items()):
        return message, folder
    named = deepcopy(message)
    for tensor, _ in external_tensors(named):
        for row in tensor.external_data:
            row.value = real[row.value].name if row.key == "location" else row.value
    return named, parents.pop()


def _with_data_inside(message: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """Return the model with its external data embedded, for releases that accept no folder of external data."""
    from padops.convert.model.document import LARGEST_PROTO
    from padops.convert.model.external import check_entries
    from padops.convert.model.nesting import external_tensors

    whole = deepcopy(message)
    rows = [(tensor, *check_entries(tensor, path)) for tensor, path in external_tensors(whole)]
    if (size := whole.ByteSize() + sum(length for *_, length in rows)) > LARGEST_PROTO:
        raise RuntimeError(
            f"this model needs conversion, but with its external data embedded it has {size} bytes, more than protobuf "
            f"allows: write it with 'padops convert', or use onnxruntime 1.{FIRST_MINOR_OF_DATA_FOLDER} or newer"
        )
    for tensor, location, offset, length in rows:
        with open(folder / location, "rb") as file:
            file.seek(offset)
            tensor.raw_data = file.read(length)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
    return whole


def _looked_at(model: str | bytes | os.PathLike[str], convert: object) -> tuple[Conversion | None, str]:
    """Convert a model that this onnxruntime may silently run wrong; return the conversion, or None and a warning."""
    doubt = f"onnxruntime {onnxruntime.__version__} may get Pads of this model wrong"
    if convert == "auto":
        try:
            made, why = _converted_if_needed(model)
        except DependencyError as missing:
            text = f"{doubt}, and padops cannot look: {missing}; convert='never' runs the model as it is"
            raise DependencyError(text, name=missing.name) from None
        if not why:
            return made, ""
        doubt += f", and padops cannot look: {why}"
    return None, f"{doubt}; padops runs them after 'padops convert'"


def _converted_if_needed(
    model: str | bytes | os.PathLike[str], refused: bool = False, provider: str = ""
) -> tuple[Conversion | None, str]:
    """Convert the model if this onnxruntime does not run every Pad and a conversion helps.

    If onnxruntime has ``refused`` the model, and padops knows no Pad as the cause, convert all Pads. With ``provider``,
    lower the model for this provider: onnxruntime has refused two compiled Pads with one name. Return the conversion,
    or None; and why padops cannot inspect or convert the model ("" if it can).
    """
    from padops.convert import PadopsError, PadsLeftError, inspect
    from padops.convert.pipeline import same_wrong

    if not isinstance(model, (str, bytes, os.PathLike)):
        return None, ""
    try:
        if provider:
            return _converted(model, {"target": "onnx", "provider": provider}), ""
        found = inspect(model)
        helped = any("convert" in pad.roads for pad in found.failing)
        # Before onnxruntime 1.24 there is no provider: only conversion runs Pads whose verdict depends on the data.
        doubtful = runtime_minor() < FIRST_MINOR and any(pad.verdict == "runs if" for pad in found.pads)
        silent = same_wrong(found.failing) or any(pad.verdict == "breaks a rule" for pad in found.pads)  # to report
        if not (helped or doubtful or refused or silent):
            return None, ""
        asked = {"custom_domains": found.domains} | ({"auto_pad": "explicit"} if "--auto-pad" in found.options else {})
        made = _converted(model, asked | {"select": "all" if doubtful or refused and not helped else "needed"})
    except PadsLeftError:  # a Pad breaks a rule
        raise
    except PadopsError as error:
        return None, str(error)
    if helped or silent or made.converted:
        return made, ""
    stuck = [pad for pad in found.failing if "session" not in pad.roads]  # the session runs the other Pads
    return None, f"{stuck[0].path}: {stuck[0].why}" if refused and stuck else ""


def _converted_after(error: Exception, model: str | bytes | os.PathLike[str], provider: str) -> Conversion | None:
    """Convert a model that onnxruntime refused; log the reason and return None if conversion cannot help."""
    try:
        made, why = _converted_if_needed(model, True, provider)
    except DependencyError as missing:
        raise DependencyError(f"onnxruntime refuses this model ({error}), and {missing}", name=missing.name) from error
    if why and (isinstance(model, bytes) or os.path.isfile(model)):  # for a missing file, onnxruntime's error suffices
        LOG.warning("padops cannot convert the model: %s", why)
    return made


def _converted(model: str | bytes | os.PathLike[str], arguments: Mapping[str, Any]) -> Conversion:
    from padops.convert import convert
    from padops.convert.pipeline import check_left
    from padops.convert.records import breaks_a_rule

    taken = sorted({*list(signature(convert).parameters)[1:]} - WRITING)
    if unknown := [name for name in arguments if name not in taken]:
        raise ValueError(f"convert has {unknown[0]!r}; a session writes no files, and accepts {', '.join(taken)}")
    made = convert(model, **arguments)
    if arguments.get("target", "padops") != "padops" or any(map(breaks_a_rule, made.unconverted)):
        check_left(made, strict=False)
    return made
