"""Set up a .venv, then show padops on two models that onnxruntime refuses, and on a real model, before and after.

    python3 scripts/demo.py

The exit code is 1 if any bit is wrong.
"""

import sys
import tempfile
from pathlib import Path

import environment
import help_first  # noqa: F401

ROOT = environment.ROOT
PICTURE = ROOT / "docs" / "modes.svg"
REAL = "swift-f0"  # a pitch detector whose Pads depend on the length of the sound


def main() -> int:
    python = environment.ensure(["convert", "cpu"])
    return environment.hand_over([python, Path(__file__).resolve(), "--inside"])


def inside() -> int:
    """Runs the demo, in .venv."""
    import numpy as np
    import onnxruntime

    import padops

    onnxruntime.set_default_logger_severity(4)
    print(f"padops {padops.__version__}, onnxruntime {onnxruntime.__version__}")
    words = np.array([["every", "pad", "runs"]], object)
    sound = np.array([[10, 20, 30, 40, 50, 60]], np.int16)
    with tempfile.TemporaryDirectory() as folder:
        print("\n1. Two models that onnxruntime refuses, and padops runs")
        good = [
            show_refused("int16", {"sound": sound}, Path(folder), {
                "padded": np.pad(sound, ((0, 0), (4, 4)), "reflect"),
            }),
            show_refused("string", {"words": words}, Path(folder), {
                "framed": np.pad(words, 1, constant_values="#"),
                "mirrored": np.pad(words, ((0, 0), (1, 1)), "reflect"),
            }),
        ]  # fmt: skip
        print("\n2. A real model, before and after")
        good.append(show_real(Path(folder)))
    print("\n3. Your model")
    show_next()
    if not all(good):
        print("\nSome bits differ: see above.")
    return 0 if all(good) else 1


def say(label: str, text: str) -> None:
    """Prints a line with its label in front."""
    print(f"  {label:<14}  {text}")


def show_refused(name: str, feeds: dict, folder: Path, expected: dict) -> bool:
    """Shows a sample: onnxruntime's error and its reason, input, output, and each way to run it."""
    import onnxruntime

    import padops
    from padops.runtime.provider import FIRST_MINOR, runtime_minor

    source, target = ROOT / "models" / f"{name}.onnx", folder / f"{name}.onnx"
    print(f"\nmodels/{name}.onnx")
    try:
        onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
        say("onnxruntime", "this release runs it by itself")
    except Exception as error:  # onnxruntime's exceptions have no common class of their own
        text = str(error).splitlines()[0].split(" : ", 2)[-1]
        say("onnxruntime", text)
    for why in dict.fromkeys(pad.why for pad in padops.inspect(source).pads):
        say("why", why)
    for key, array in feeds.items():
        added = next(iter(expected.values())).shape[1] - array.shape[1]
        show_rows(f"before: {key}", array, shift=added // 2)
    for key, array in expected.items():
        show_rows(f"after: {key}", array)
    conversion = padops.convert(source, target)
    roads = {"as it is": (padops.InferenceSession, source), "converted": (padops.InferenceSession, target),
             "without padops": (onnxruntime.InferenceSession, target)}  # fmt: skip
    if runtime_minor() < FIRST_MINOR:  # this onnxruntime accepts no plugin providers
        del roads["as it is"]
    good = not conversion.unconverted
    for label, (kind, model) in roads.items():
        outputs = kind(model, providers=["CPUExecutionProvider"]).run(list(expected), feeds)
        pairs = zip(outputs, expected.values())
        right = all(array.dtype == wanted.dtype and array.tolist() == wanted.tolist() for array, wanted in pairs)
        good &= right
        call = f"{kind.__module__.partition('.')[0]}.InferenceSession"
        say(
            label,
            f"{call} of {'the' if model == source else 'the converted'} model: {verdict(right, 'numpy.pad')}",
        )
    return good


def show_rows(label: str, array, shift: int = 0) -> None:
    """Prints a small table of elements, with a label before its first row and a left margin."""
    for i, row in enumerate(array.tolist()):
        cells = " ".join(f"{element!s:>5}" for element in [""] * shift + row)
        print(f"  {label if i == 0 else '':<15} {cells}")


def show_real(folder: Path) -> bool:
    """Shows a real model, or a sample if no download is possible: the changes, and both models on random input."""
    import fetch_models
    import numpy as np

    random = np.random.default_rng(0)
    try:
        name, source = next(iter(fetch_models.fetch([REAL]).items()))
        noise = random.standard_normal((1, 16000)).astype(np.float32)
        feeds = {"audio": noise, "fmin": np.float32(46.875), "fmax": np.float32(2093.75)}
        about = "a detector of pitch, which pads the sound by amounts that it computes"
    except fetch_models.FetchError as error:
        print(f"\nNo real model, models/nested.onnx instead: {str(error)}")
        name, source = "models/nested.onnx", ROOT / "models" / "nested.onnx"
        noise = random.standard_normal((2, 3)).astype(np.float32)
        feeds = {"x": noise, "flag": np.array(True), "turns": np.array(2)}
        about = "Pads in both branches of an If, in a Loop and in a function"
    print(f"\n{name}, {about}")
    return show_change(name, source, folder / "real.onnx", {k: np.asarray(v) for k, v in feeds.items()})


def show_change(name: str, source: Path, target: Path, feeds: dict) -> bool:
    """Shows the Pads of a model, what replaced them, and its outputs before and after."""
    import onnxruntime

    import padops

    try:
        result = padops.convert(source, target, verify=True, inputs=feeds)
    except padops.VerificationError as error:
        print(error)
        return False
    say("onnxruntime", padops.inspect(source).summary())
    print(f"{name}: {len(result.records)} Pads")
    for record in result.records:
        now = f"padops::{record.op_type}" if record.op_type else record.reason or record.status
        print(f"  {record.path}: was {record.form}, is now {now}")
    say("verified", f"padops.convert(…, verify=True), each Pad's own output too: {result.verification.outcome}")
    before = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    after = padops.InferenceSession(target, providers=["CPUExecutionProvider"])
    good = not result.unconverted
    for output, old, new in zip(before.get_outputs(), before.run(None, feeds), after.run(None, feeds)):
        right = (old.dtype, old.shape, old.tobytes()) == (new.dtype, new.shape, new.tobytes())
        good &= right
        say(output.name, f"{list(new.shape)} {new.dtype}: {verdict(right, 'before')}")
    return good


def show_next() -> None:
    """Shows the next steps, and the place of the picture."""
    say("where", f"{Path(sys.executable).parent} has the command padops, and the Python that imports it")
    say("look", "padops inspect MODEL                    whether ONNX Runtime runs each Pad, and how to fix it")
    say("run", 'padops.InferenceSession("MODEL")        as it is, from onnxruntime 1.24 on')
    say(
        "convert",
        "padops convert MODEL OUT --verify       for older runtimes and for Pads that are not ONNX's",
    )
    say("the modes", f"{PICTURE}, as a picture")
    say("more", f"{ROOT / 'README.md'}")


def verdict(right: bool, peer: str) -> str:
    return f"the same bits as {peer}" if right else f"NOT the bits of {peer}"


if __name__ == "__main__":
    sys.exit(inside() if sys.argv[1:] == ["--inside"] else main())
