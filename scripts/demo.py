"""Set up a .venv, then show padops at work: two samples that onnxruntime refuses, and a real model, before and after.

python3 scripts/demo.py
"""

import sys
import tempfile
from pathlib import Path

import environment

ROOT = environment.ROOT
REAL = "swift-f0"  # a pitch detector whose Pads depend on the length of the sound


def main() -> int:
    python = environment.ensure(["convert", "cpu"])
    return environment.hand_over([python, Path(__file__).resolve(), "--inside"])


def inside() -> int:
    """The demo itself, in .venv: the exit code is 1 where any bit is not what it should be."""
    import numpy as np
    import onnxruntime
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    onnxruntime.set_default_logger_severity(3)
    console.print(f"[bold]1. Pads that onnxruntime {onnxruntime.__version__} refuses[/bold]")
    words = np.array([["every", "pad", "runs"]], object)
    sound = np.array([[10, 20, 30, 40, 50, 60]], np.int16)
    with tempfile.TemporaryDirectory() as folder:
        good = [
            show_refused(console, "string", {"words": words}, Path(folder), {
                "framed": np.pad(words, 1, constant_values="#"),
                "mirrored": np.pad(words, ((0, 0), (1, 1)), "reflect"),
            }),
            show_refused(console, "int16", {"sound": sound}, Path(folder), {
                "padded": np.pad(sound, ((0, 0), (4, 4)), "reflect"),
            }),
        ]  # fmt: skip
        console.print("\n[bold]2. A real model, before and after[/bold]")
        good.append(show_real(console, Path(folder)))
    if not all(good):
        console.print("\n[bold red]Some bits differ: see above.[/bold red]")
    return 0 if all(good) else 1


def show_refused(console, name: str, feeds: dict, folder: Path, expected: dict) -> bool:
    """A sample: onnxruntime's refusal, the conversion, and the outputs of the converted model."""
    import onnxruntime
    from rich.markup import escape

    import padops

    source, target = ROOT / "models" / f"{name}.onnx", folder / f"{name}.onnx"
    console.print(f"\n[cyan]models/{name}.onnx[/cyan]")
    try:
        onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
        console.print("  this onnxruntime runs it by itself")
    except Exception as error:  # onnxruntime's exceptions have no common class of their own
        console.print(f"  without padops  [red]{escape(str(error).splitlines()[0])}[/red]")
    good = run_as_it_is(console, source, feeds, expected)
    for record in padops.convert(source, target).records:
        console.print(f"  converted       {record.name}: {record.form} -> padops::{record.op_type}")
    options = onnxruntime.SessionOptions()
    padops.register(options)
    session = onnxruntime.InferenceSession(target, options, providers=["CPUExecutionProvider"])
    for key, array in feeds.items():
        console.print(f"  {key:<14}  {array.tolist()[0]}", markup=False)
    for key, array in zip(expected, session.run(list(expected), feeds)):
        right = is_same(array, expected[key])
        good &= right
        for i, row in enumerate(array.tolist()):
            console.print(f"  {key if i == 0 else '':<14}  {row}", markup=False)
        console.print(f"  {'':<14}  {verdict(right, 'numpy.pad')}")
    return good


def run_as_it_is(console, source: Path, feeds: dict, expected: dict) -> bool:
    """The sample without a conversion, where this onnxruntime has execution providers of libraries."""
    import padops
    from padops.runtime.provider import FIRST_MINOR, runtime_minor

    if runtime_minor() < FIRST_MINOR:
        console.print(f"  as it is        onnxruntime 1.{FIRST_MINOR} runs it with padops.InferenceSession")
        return True
    outputs = padops.InferenceSession(source).run(list(expected), feeds)
    right = all(is_same(array, wanted) for array, wanted in zip(outputs, expected.values()))
    console.print(f"  as it is        padops.InferenceSession: {verdict(right, 'numpy.pad')}")
    return right


def is_same(array, wanted) -> bool:
    """Whether an output has this type and these elements."""
    return array.dtype == wanted.dtype and array.tolist() == wanted.tolist()


def show_real(console, folder: Path) -> bool:
    """A real model, or a sample where it cannot be had: what was changed, and both models on random input."""
    import fetch_models
    import numpy as np
    from rich.markup import escape

    random = np.random.default_rng(0)
    try:
        name, source = next(iter(fetch_models.fetch([REAL]).items()))
        noise = random.standard_normal((1, 16000)).astype(np.float32)
        feeds = {"audio": noise, "fmin": np.float32(46.875), "fmax": np.float32(2093.75)}
    except fetch_models.FetchError as error:
        console.print(f"\n[bold yellow]No real model, models/nested.onnx instead:[/bold yellow] {escape(str(error))}")
        name, source = "models/nested.onnx", ROOT / "models" / "nested.onnx"
        noise = random.standard_normal((2, 3)).astype(np.float32)
        feeds = {"x": noise, "flag": np.array(True), "turns": np.array(2)}
    return show_change(console, name, source, folder / "real.onnx", {k: np.asarray(v) for k, v in feeds.items()})


def show_change(console, name: str, source: Path, target: Path, feeds: dict) -> bool:
    """The Pads of a model, what became of them, and its outputs before and after."""
    import onnxruntime
    from rich.table import Table

    import padops
    from padops.convert import VerificationError

    try:
        result = padops.convert(source, target, verify=True, inputs=feeds)
    except VerificationError as error:
        console.print(str(error), style="bold red", markup=False)
        return False
    table = Table("where", "form", "became", title=f"{name}: {len(result.records)} Pads", title_justify="left")
    for record in result.records:
        table.add_row(record.path, record.form, record.op_type or f"left: {record.reason}")
    console.print()
    console.print(table)
    console.print(f"  padops.convert(..., verify=True): {result.verification.outcome}")
    options = onnxruntime.SessionOptions()
    padops.register(options)
    original = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    converted = onnxruntime.InferenceSession(target, options, providers=["CPUExecutionProvider"])
    good = not result.unconverted
    before, after = original.run(None, feeds), converted.run(None, feeds)
    for output, old, new in zip(original.get_outputs(), before, after):
        right = (old.dtype, old.shape, old.tobytes()) == (new.dtype, new.shape, new.tobytes())
        good &= right
        console.print(f"  {output.name} {list(new.shape)} {new.dtype}: {verdict(right, 'the original model')}")
    return good


def verdict(right: bool, peer: str) -> str:
    return f"[green]the same bits as {peer}[/green]" if right else f"[bold red]NOT the bits of {peer}[/bold red]"


if __name__ == "__main__":
    sys.exit(inside() if sys.argv[1:] == ["--inside"] else main())
