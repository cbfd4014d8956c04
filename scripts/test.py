"""Set up a .venv, fetch the real models, run the tests, and compare with every other Pad on this machine.

    python3 scripts/test.py [--peers]
    python3 scripts/test.py [--peers] tests/test_plan.py [-k PATTERN] [-x] ...

The second form gives its arguments to pytest, which runs in the checkout's root, and ends there. Each core takes files of
its own, unless -n says otherwise (-n 0: one process).

With --peers the other implementations (OpenVINO, PyTorch, JAX, TensorFlow; 3 GB) are installed and compared with as well;
without it the run names those that it did not have.
"""

import os
import sys

import environment


def main(arguments: list) -> int:
    peers = "--peers" in arguments
    if peers:
        arguments = [argument for argument in arguments if argument != "--peers"]
        os.environ["PADOPS_PEERS"] = "1"
    python = environment.ensure(["test", "peers"] if peers else ["test"])
    environment.step("fetching the real models", [python, environment.ROOT / "scripts" / "fetch_models.py"])
    spread = [] if "-n" in arguments else ["-n", str(os.cpu_count()), "--dist", "loadfile"]
    failed = environment.hand_over([python, "-m", "pytest", *spread, *arguments], environment.ROOT)
    if failed or arguments:
        return failed
    print("padops conformance --quick", flush=True)
    required = ["--require-peers"] if peers else []
    return environment.hand_over([python, "-m", "padops", "conformance", "--quick", *required], environment.ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
