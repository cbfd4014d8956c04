"""Run Pads on execution providers of onnxruntime, alone and with padops beside them.

    python3 scripts/providers.py [NAME ...] [--with PACKAGE==VERSION ...] [--json FILE]
                                 [--way stock|name|device|plain|lowered]
    python3 scripts/providers.py --list

The default is the three names that need no device: ort-openvino, ort-webgpu (a Vulkan in software, from Debian's
packages, which are unpacked and not installed) and ort-qnn (its HTP, emulated). The first call creates an environment
for each, as scripts/peers.py does for peers; --with uses one with other versions. Any other name is a provider of this
Python, such as CUDAExecutionProvider.

Each of the models of scripts/provider_cases.py runs in a process that may die. A row has the outcome and the provider
that ran the Pad; for a lowered model, the nodes that ran elsewhere. Exit codes: 0 done; 1 a result with padops beside a
provider is wrong, the session dropped the provider, or a model lowered for the provider is wrong; 2 usage.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
import environment
import help_first  # noqa: F401
import peers
import provider_cases
from provider_cases import ALL, CASES, CPU, OPENVINO, PADOPS, QNN, WEBGPU

ENVIRONMENTS = {name: about for name, about in peers.stated().items() if "provider" in about and "requires" in about}
WAYS = ("stock", "name", "device", "plain", "lowered")
SECONDS = 60  # for one model, the start of a process included

# Faults that need no Pad: QNN also crashes on a Relu of five dims, and refuses a Relu of no elements.
UNHELPED = {(QNN, name) for name in provider_cases.ALL if name.endswith(("rank 5", "nothing"))}

# Faults that lowering does not fix: OpenVINO also leaves a Relu without dims or elements, and compiles no graph with a
# constant output; QNN leaves a Relu of six dims.
LEFT_BARE = {(OPENVINO, name) for name in ALL if name.endswith(("rank 0", "of nothing"))}
LEFT_BARE |= {(QNN, name) for name in ALL if name.endswith("rank 6")}
UNLOWERED = {(OPENVINO, name) for name in ALL if name.endswith(("cut beyond", "to nothing"))}

# Cases whose outcome depends on nodes after the Pad, so padops may claim a Pad that the provider would run.
UNSURE = {(QNN, "constant cut away"), (QNN, "constant cut beyond")}


def with_packages(name: str, packages: "tuple[str, ...]") -> str:
    """Add an environment to ENVIRONMENTS, like another one but with other versions of some packages; return its name.

    Args:
        name: The name of the environment to copy.
        packages: The packages as for pip, such as ``onnxruntime-webgpu==1.25.1``.

    Raises:
        ValueError: The environment has no such package.
    """
    stated = {package.partition("==")[0]: package for package in ENVIRONMENTS[name]["requires"]}
    other = {package.partition("==")[0]: package for package in packages}
    if missing := sorted(set(other) - set(stated)):
        raise ValueError(f"{name} has no {missing[0]}; it has {', '.join(stated)}")
    made = "-".join([name, *(package.replace("==", "-") for package in packages)])
    ENVIRONMENTS[made] = {**ENVIRONMENTS[name], "name": made, "requires": tuple({**stated, **other}.values())}
    return made


def python_of(name: str) -> str:
    """Returns the Python that has a provider: its environment's, which is created if missing, or this one."""
    if name not in ENVIRONMENTS:
        return sys.executable
    peers.ensure(name, ENVIRONMENTS[name])
    return str(environment.interpreter(peers.folder_of(name)))


def ask(name: str, way: str, cases: "list[provider_cases.Case]") -> "dict[str, dict[str, Any]]":
    """Return the outcomes of cases, by their names.

    Args:
        name: The name of an environment, or of a provider.
        way: See ``provider_cases.run``.
        cases: The cases.
    """
    provider = provider_of(name)
    lines = {case.name: provider_cases.as_line(case, _model(case, provider, way)) for case in cases}
    return ask_lines(name, way, lines)


def ask_suite(name: str, way: str, ids: "list[str]") -> "dict[str, dict[str, Any]]":
    """Return the outcomes of cases of the conformance suite, by their ids; see ``provider_suite.run_suite``."""
    lines = {id: json.dumps({"suite": id}) for id in ids}
    answers = ask_lines(name, way, lines)
    dead = {id: lines[id] for id, answer in answers.items() if answer["outcome"] == "dead"}
    return answers | {id: answers[id] | told for id, told in ask_lines(name, "verdict", dead).items()}


def provider_of(name: str) -> str:
    """Returns the provider of an environment, or the named provider."""
    return ENVIRONMENTS[name]["provider"] if name in ENVIRONMENTS else name


def ask_lines(name: str, way: str, lines: "dict[str, str]") -> "dict[str, dict[str, Any]]":
    """Return the outcomes of lines of ``provider_cases.as_line``, by their names."""
    program = Path(provider_cases.__file__).resolve()
    command = [python_of(name), "-W", "error::UserWarning", str(program), provider_of(name), way]
    answers, process = {}, None
    for asked, question in lines.items():
        if process is None:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=variables(),
            )
        line = _line(process, question)
        if line:
            answers[asked] = json.loads(line)
        else:
            answers[asked] = {"outcome": "dead", "why": f"the process ended with {_end(process)}", "ran": []}
            process = None
    if process is not None:
        _end(process)
    return answers


def _model(case: "provider_cases.Case", provider: str, way: str) -> bytes:
    """Returns the model of one way."""
    model = provider_cases.model_of(case)
    if way not in ("plain", "lowered"):
        return model
    import padops

    return padops.lower(model, provider=provider if way == "lowered" else None).proto().SerializeToString()


def _end(process: subprocess.Popen) -> int:
    """Ends an idle or dead process, and returns its exit code."""
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stdout.close()
    return process.wait()


def variables() -> "dict[str, str]":
    """Return the environment of a process that finds the sources of this checkout and the built library."""
    made = {**os.environ, "PYTHONPATH": str(environment.ROOT)}
    if "PADOPS_LIBRARY" not in made:
        import padops

        made["PADOPS_LIBRARY"] = padops.get_library_path()
    return made


def _line(process: subprocess.Popen, question: str) -> str:
    """Returns the answer to one line; empty if the process dies or takes too long."""
    late = threading.Timer(SECONDS, process.kill)
    late.start()
    try:
        process.stdin.write(question + "\n")
        process.stdin.flush()
        return process.stdout.readline()
    except BrokenPipeError:
        return ""
    finally:
        late.cancel()


def who(answer: "dict[str, Any]", provider: str) -> str:
    """Return the provider that ran the Pad, or that compiled it if no provider reports a run."""
    taken = [by for operator, by, _ in answer.get("ran", ()) if operator == "Pad" or by == PADOPS[0]]
    return ", ".join(sorted(set(taken))) or (provider if "providers" in answer else "")


def faults(provider: str, stock: "dict[str, dict]", beside: "dict[str, dict]") -> "list[str]":
    """Return, in words, padops' faults beside a provider: wrong results, dropped providers, Pads claimed needlessly."""
    found = []
    for name, answer in beside.items():
        if (provider, name) in UNHELPED:
            continue
        if answer["outcome"] != "right":
            found.append(f"{name}: {answer['outcome']}: {answer.get('why', '')}")
            continue
        if provider not in answer["providers"]:
            found.append(f"{name}: {provider} has been dropped")
        ran_right = stock[name]["outcome"] == "right" and who(stock[name], provider) == provider
        unsure = ALL[name].given or (provider, name) in UNSURE
        if ran_right and who(answer, provider) != provider and not unsure:
            found.append(f"{name}: {who(answer, provider)} took a Pad that {provider} runs correctly")
    return found


def elsewhere(answer: "dict[str, Any]", provider: str) -> "dict[str, int]":
    """Count, per operator, the nodes that ran on another provider, copies between the two included."""
    return {
        operator: count
        for operator, by, count in answer.get("ran", ())
        if by != provider or operator.startswith("Memcpy")
    }


def lowered_faults(provider: str, answers: "dict[str, dict]") -> "list[str]":
    """Return, in words, wrong results of models lowered for a provider, and their nodes that it does not run.

    A provider may leave nodes of some types, nodes with open dims, and nodes that compute amounts.
    """
    found = []
    for name, answer in answers.items():
        case = ALL[name]
        if (provider, name) in UNHELPED | UNLOWERED:
            continue
        if answer["outcome"] != "right":
            found.append(f"{name}: {answer['outcome']}: {answer.get('why', '')}")
        takes_none = (provider in (WEBGPU, QNN) and case.type == "int64") or (provider == QNN and case.given)
        takes_none = takes_none or (provider, name) in LEFT_BARE
        if (others := elsewhere(answer, provider)) and not takes_none and "pads" not in case.given:
            found.append(f"{name}: {others} ran elsewhere")
    return found


def main(arguments: "list[str]") -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--with", dest="packages", metavar="PACKAGE==VERSION", action="append", default=[])
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    if options.list:
        for name, about in ENVIRONMENTS.items():
            print(
                f"{name}: {about['provider']}: {peers.folder_of(name) if peers.is_made({'name': name}) else 'not made'}"
            )
        return 0
    names = options.names or list(ENVIRONMENTS)
    if options.packages:
        try:
            (name,) = names
            names = [with_packages(name, tuple(options.packages))]
        except (KeyError, ValueError) as error:
            parser.error(f"--with needs the name of one environment, and packages that it has: {error}")
    told, wrong = {}, []
    for name in names:
        provider = provider_of(name)
        told[name] = {way: ask(name, way, list(ALL.values())) for way in options.way or WAYS}
        show(provider, told[name])
        for way in ("name", "device"):
            # A built-in provider is not a device: padops refuses options that have it if padops must precede it.
            if "stock" in told[name] and way in told[name] and (way == "name" or provider == QNN):
                wrong += [
                    f"{name}, by {way}: {fault}" for fault in faults(provider, told[name]["stock"], told[name][way])
                ]
        wrong += [f"{name}, lowered: {fault}" for fault in lowered_faults(provider, told[name].get("lowered", {}))]
    if options.json:
        Path(options.json).write_text(json.dumps(told, indent=1))
    for fault in wrong:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if wrong else 0


def show(provider: str, answers: "dict[str, dict[str, dict]]") -> None:
    """Prints the rows of a provider, and how many of the closed cases are right."""
    for way, rows in answers.items():
        right = sum(rows[case.name]["outcome"] == "right" for case in CASES)
        print(f"{provider}, {way}: {right} of {len(CASES)} right")
        for name, answer in rows.items():
            by = who(answer, provider).replace("ExecutionProvider", "").replace(CPU, "CPU")
            if way in ("plain", "lowered") and answer["outcome"] == "right":
                others = elsewhere(answer, provider)
                by = ", ".join(f"{count} {operator} elsewhere" for operator, count in others.items()) or "all on it"
            print(f"  {name:26} {answer['outcome']:8} {by or answer.get('why', '')[:80]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
