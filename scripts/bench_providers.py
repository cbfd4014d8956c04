"""Time networks on execution providers that need no device, with padops beside them.

It runs ``padops bench --providers`` in the environment of each provider.

    python3 scripts/bench_providers.py [NAME ...] [options of padops bench, such as --quick --markdown --json {}.json]

Names are those of scripts/providers.py; without any, OpenVINO is asked (ort-openvino) and WebGPU (ort-webgpu, with
--quick: its Vulkan is software). The first call makes their environments. {} in an option is the name. QNN's processor
is emulated, so its times say nothing.
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
import environment
import help_first  # noqa: F401
import providers
from provider_cases import CPU, WEBGPU

TIMED = ("ort-openvino", "ort-webgpu")


def command(name: str, options: "list[str]") -> "list[str]":
    """The command that measures in one environment, which is made where it is not there."""
    provider = providers.ENVIRONMENTS[name]["provider"]
    quick = ["--quick"] if provider == WEBGPU and "--quick" not in options else []
    told = [option.replace("{}", name) for option in options]
    return [providers.python_of(name), "-m", "padops", "bench", "--providers", f"{provider},{CPU}", *quick, *told]


def variables(name: str) -> "dict[str, str]":
    """The environment variables of a process that runs in an environment.

    With these variables, the process finds the sources of this checkout, the built library and the environment's
    Vulkan.
    """
    made = providers.variables()
    if providers.ENVIRONMENTS[name]["provider"] == WEBGPU:
        from padops.conformance.peers.environments import vulkan

        folder, icd = vulkan(Path(providers.python_of(name)).parents[1])
        others = [made["LD_LIBRARY_PATH"]] if made.get("LD_LIBRARY_PATH") else []
        made.update(LD_LIBRARY_PATH=os.pathsep.join([str(folder), *others]), VK_ICD_FILENAMES=str(icd))
    return made


def main(arguments: "list[str]") -> int:
    names = []
    while arguments and not arguments[0].startswith("-"):
        names.append(arguments.pop(0))
    unknown = [name for name in names if name not in TIMED]
    if unknown:
        print(f"error: {unknown[0]} is none of {', '.join(TIMED)}", file=sys.stderr)
        return 2
    codes = [
        subprocess.run(command(name, arguments), env=variables(name), cwd=environment.ROOT).returncode
        for name in names or TIMED
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
