"""Measure Pads on this machine's NVIDIA device: alone, with padops beside it, and with lowered models.

    python3 scripts/cuda.py [--out DIR] [--instead NAME]

Creates an environment with onnxruntime-gpu, runs ``padops probe CUDAExecutionProvider`` there, then the 29 models of
scripts/providers.py and the five networks of scripts/bench_providers.py. The rules, the outcomes and the times go into
DIR (build/cuda); the last lines have the Memcpys of each network with padops, and the share of its time that lowering
saves. Without the download, this takes less than four minutes. On a machine without a device, it prints the reason and
runs nothing. --instead runs the same steps with another provider of scripts/providers.py, such as ort-openvino. Exit
codes: 0 done, 1 a step failed, 2 usage.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import environment
import help_first  # noqa: F401
import peers

NAME = "ort-cuda"
ABOUT = {
    "name": NAME,
    "provider": "CUDAExecutionProvider",
    "requires": (
        "onnxruntime-gpu[cuda,cudnn]==1.31.1", "numpy==2.4.6", "ml_dtypes==0.5.4", "onnx==1.23.2", "onnx-ir==1.1.0",
    ),
}  # fmt: skip
ENDED = (0, 5)  # exit codes; 5: padops probe found models that no rule fixes; its output has their names


def missing_device() -> str:
    """Returns why CUDA cannot run here; "" if there is a device."""
    if not (program := shutil.which("nvidia-smi")):
        return "there is no nvidia-smi"
    asked = subprocess.run([program, "-L"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    return "" if asked.returncode == 0 and "GPU" in asked.stdout else f"nvidia-smi lists none: {asked.stdout.strip()}"


def find_libraries(folder: Path) -> None:
    """Lets onnxruntime find the CUDA libraries that pip has installed into an environment."""
    found = sorted(str(path) for path in folder.glob("lib/python*/site-packages/nvidia/*/lib"))
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join([*found, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


def of_memcpys(rows: list) -> list:
    """Returns a line for each network: the share of its time, with padops beside the provider, that lowering saves."""
    times = {(row["network"], row["by"]): row for row in rows if row["median"]}
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        beside, lowered = (times.get((network, by)) for by in ("padops beside it", "lowered for it"))
        if beside and lowered:
            part = 1 - lowered["median"] / beside["median"]
            lines.append(f"{network}: {beside['copies']} Memcpys beside padops; lowered, {part:.1%} less time")
    return lines


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=environment.ROOT / "build" / "cuda", metavar="DIR")
    parser.add_argument("--instead", metavar="NAME", help="another provider of scripts/providers.py")
    options = parser.parse_args(arguments)
    if not options.instead and (why := missing_device()):
        print(f"no NVIDIA device: {why}. Nothing was run; --instead ort-openvino runs the same steps without it.")
        return 0
    if Path(sys.executable) != (python := environment.ensure(["test"])):
        return environment.hand_over([python, Path(__file__).resolve(), *arguments])
    import bench_providers
    import providers

    providers.ENVIRONMENTS[NAME] = ABOUT
    name = options.instead or NAME
    if name not in providers.ENVIRONMENTS:
        parser.error(f"argument --instead: expected one of {', '.join(set(providers.ENVIRONMENTS) - {NAME})}")
    python, provider = providers.python_of(name), providers.provider_of(name)
    find_libraries(peers.folder_of(name))
    options.out.mkdir(parents=True, exist_ok=True)
    rules, models, networks = (options.out.resolve() / f"{file}.json" for file in ("rules", "models", "networks"))
    probe = [python, "-m", "padops", "probe", provider, "--output", str(rules)]
    ways = [word for way in ("stock", "name", "lowered") for word in ("--way", way)]
    steps = {
        "padops probe": lambda: subprocess.run(probe, env=providers.variables(), cwd=options.out).returncode,
        "models": lambda: providers.main([name, *ways, "--json", str(models)]),
        "networks": lambda: bench_providers.main([name, "--json", str(networks)]),
    }
    failed = []
    for file in (rules, models, networks):  # of an earlier run
        file.unlink(missing_ok=True)
    for step, run in steps.items():
        print(f"{step}:", flush=True)
        start = time.monotonic()
        failed += [] if run() in ENDED else [step]
        print(f"{step}: {time.monotonic() - start:.0f} s", flush=True)
    if networks.is_file():
        print(*of_memcpys(json.loads(networks.read_text(encoding="utf-8"))), sep="\n")
    print(f"failed: {', '.join(failed)}" if failed else f"done; the results are in {options.out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
