"""Every code block of README.md and docs/ runs, prints what its page says, and names what is there; the demo runs.

Blocks of Python and of the console run in this process, each page in a folder of its own that has ``models/`` in it. A
block that cannot run carries a comment with the reason before it; with ``-s`` those are listed. Of files for CI, what
they run of padops is run, without what it installs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import ci_snippets
import pytest
from command_lines import run
from document_blocks import DATA, PAGES, ROOT, Block, agrees, blocks, commands, printed
from public_surface import surface

import padops

NOT_RUN = [block for page in PAGES for block in blocks(page) if block.reason]
MOST_NOT_RUN = 19  # one more is one more promise that no test holds


@pytest.fixture
def place(here: Path) -> Path:
    shutil.copytree(ROOT / "models", here / "models")
    shutil.copy(ROOT / "models" / "int16.onnx", here / "model.onnx")
    return here


def check_output(block: Block, said: list[str], real: str) -> None:
    """Checks the output that a page shows, if any, against what was printed; a last line of … stands for the rest."""
    said, lines = ([line for line in text if line.strip()] for text in (said, real.splitlines()))
    if not said:
        return
    if said[-1].strip() == "…":
        said.pop()
        lines = lines[: len(said)]
    assert len(said) == len(lines), f"{block} shows {said}, but it prints {lines}"
    for expected, line in zip(said, lines):
        assert agrees(expected, line), f"{block} shows {expected!r}, but it prints {line!r}"


def run_command(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """A command's exit code and output: padops' own in this process, others in a shell."""
    words = shlex.split(command, comments=True)
    if words[0] != "padops" or {"|", "||", "<", ">"} & set(words):
        ran = ci_snippets.run_script((command, {}), Path.cwd())
        return ran.returncode, ran.stdout + ran.stderr
    capsys.readouterr()
    code, out, err = run(capsys, *words[1:])
    return code, out + err


def check_ci(block: Block, place: Path) -> None:
    """Checks that a CI file of a page fails where a model does, passes where all run, and writes the files it names."""
    good = place / "good"
    (good / "models").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "models" / "pad_02.onnx", good / "models")
    scripts = list(ci_snippets.scripts_of(block.code))
    assert scripts, f"{block} runs nothing of padops"
    for folder, expected, chosen in ((place, 3, scripts), (good, 0, scripts[:1])):
        for script in chosen:
            ran = ci_snippets.run_script(script, folder)
            assert ran.returncode == expected, f"{block}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}"
    for name in re.findall(r"\bpadops\.(?:sarif|xml)\b", block.code):
        assert (place / name).stat().st_size, f"{block} does not write {name}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_blocks(page: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    for block in blocks(page):
        if block.reason:
            continue
        if block.language == "python":
            capsys.readouterr()
            exec(compile("\n" * (block.line - 1) + block.code, block.page, "exec"), namespace)
            check_output(block, printed(block), capsys.readouterr().out)
        elif block.language == "console":
            for command, shown in commands(block):
                code, output = run_command(command, capsys)
                assert code == 0, f"{block}: {command}: exit code {code}\n{output}"
                check_output(block, shown, output)
        elif block.language == "yaml":
            check_ci(block, place)
        elif block.language == "json" and "…" not in block.code:
            json.loads(block.code)
        else:
            assert block.language in DATA, f"{block} neither runs nor says why not: <!-- not run: the reason -->"


def test_few_blocks_do_not_run_and_none_is_overlooked() -> None:
    print("\n".join(f"  {block}: {block.reason}" for block in NOT_RUN))
    assert 0 < len(NOT_RUN) <= MOST_NOT_RUN
    for page in PAGES:
        fences = re.findall(r"^ *```\w*$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == 2 * len(blocks(page)), page.name


# --- what the text names ----------------------------------------------------------------------------------------------

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# Of programs that are not padops'.
FOREIGN = {"--no-deps", "--user", "--custom-ops", "--extra_opset"}


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def spans(page: Path) -> set[str]:
    return set(SPAN.findall(prose(page)))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.stem)
def test_commands_and_options_exist(page: Path) -> None:
    lines = surface()["commands and options"]
    named = {re.match(r"padops(?: [a-z]+)*", line)[0] for line in lines}
    scripts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "scripts").glob("*.py"))
    for span in spans(page):
        words = span.split()
        if re.match(r"padops [a-z]", span):
            command = next(" ".join(words[:n]) for n in (3, 2, 1) if " ".join(words[:n]) in named)
            assert command != "padops", f"{page.name}: no such command: {span}"
            known = " ".join(line for line in lines if line.startswith(f"{command} -")) + " --help "
            options = [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]
            assert [option for option in options if not re.search(rf"{option}\b", known)] == [], f"{page.name}: {span}"
        elif re.match(r"--[a-z]", span):
            option = re.split(r"[ =]", span)[0]
            known = option in FOREIGN or re.search(rf"{option}\b", " ".join(lines) + scripts)
            assert known, f"{page.name}: no such option: {span}"


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles)
    return {re.sub(r"[-\s]+", "-", heading) for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_files_exist(page: Path) -> None:
    named = {re.sub(r"(::|:\d).*", "", span) for span in spans(page) if page.name != "CHANGELOG.md"}
    paths = {name for name in named if re.fullmatch(r"(padops|tests|scripts|docs|models|\.ci)/[\w./-]+", name)}
    assert {name for name in paths if not (ROOT / name).exists()} == set()
    links = re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8"))
    targets = [(page.parent / link if link else page, anchor) for link, anchor in links if "://" not in link]
    assert [target for target, _ in targets if not target.exists()] == []
    assert [(target.name, anchor) for target, anchor in targets if anchor and anchor not in anchors(target)] == []


def test_reference_has_every_public_name() -> None:
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert {name for name in padops.__all__ if not re.search(rf"padops\.{name}\b|- {name}\b", text)} == set()


def test_demo_without_a_network_says_so_and_shows_a_sample_instead(tmp_path: Path) -> None:
    cut_off = {"PADOPS_CACHE": str(tmp_path / "cache"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    command = [sys.executable, str(ROOT / "scripts" / "demo.py"), "--inside"]
    result = subprocess.run(command, env={**os.environ, **cut_off}, cwd=tmp_path, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "No real model, models/nested.onnx instead" in result.stdout
    assert "models/nested.onnx: 4 Pads" in result.stdout
    assert "NOT" not in result.stdout.replace("NOT_IMPLEMENTED", "")
