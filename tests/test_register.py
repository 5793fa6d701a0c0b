# SPDX-License-Identifier: Apache-2.0
"""scripts/register.py against real west, and the other two ways that the README names."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import CONFIG, ENTRY, ROOT, MakeWorkspace, Result, Run, Workspace

SCRIPT = ROOT / "scripts" / "register.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("register", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["register"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


register = load()


def call(run: Run, cwd: Path, *args: str | Path, script: Path = SCRIPT) -> Result:
    return run(sys.executable, script, *args, cwd=cwd)


def config(made: Workspace) -> bytes:
    return (made.topdir / ".west" / "config").read_bytes()


def knows_ask(west: Run, cwd: Path) -> bool:
    """Whether west offers the command, without its being imported."""
    return "\n  ask:" in west("help", cwd=cwd).stdout


def files(folder: Path) -> set[str]:
    """All paths under a folder; links are not followed."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if ".git" not in path.parts
    }


def round_trip(made: Workspace, run: Run, west: Run, cwd: Path | None = None) -> None:
    """Registers and undoes; in between all is there, afterwards nothing is left."""
    cwd = cwd or made.topdir
    before, there = config(made), files(made.topdir)
    listed = west("list", cwd=cwd).stdout
    assert not knows_ask(west, cwd)

    done = call(run, cwd)
    assert done.returncode == 0, done.stderr
    assert str(ROOT) in done.stdout and "--undo" in done.stdout
    assert knows_ask(west, cwd)
    assert west("list", cwd=cwd).stdout == listed  # the project is not active
    for args in (("manifest", "--validate"), ("update",)):
        assert west(*args, cwd=cwd).returncode == 0, args

    done = call(run, cwd, "--undo")
    assert done.returncode == 0, done.stderr
    assert config(made) == before
    assert files(made.topdir) == there
    assert not knows_ask(west, cwd)


@pytest.mark.parametrize("name", ["ws", "my garden", "gärten-日本", "100%"])
def test_checkout_outside_the_workspace(
    name: str, workspace: MakeWorkspace, run: Run, west: Run
) -> None:
    made = workspace(name, register=False)
    round_trip(made, run, west)


def test_started_from_a_folder_below(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    round_trip(made, run, west, cwd=made.zephyr / "doc")


def test_checkout_inside_the_workspace(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    clone = made.topdir / "tools" / "ask clone"
    shutil.copytree(ROOT / "scripts", clone / "scripts")
    shutil.copy(ROOT / "west-commands.yml", clone)
    there = files(made.topdir)
    done = call(run, made.topdir, script=clone / "scripts" / "register.py")
    assert done.returncode == 0, done.stderr
    assert knows_ask(west, made.topdir)
    assert files(made.topdir) - there == {".west/west-ask.yml"}  # no link is needed
    # A clone that is deleted too early takes the command along, and nothing else.
    shutil.rmtree(clone)
    assert west("topdir", cwd=made.topdir).returncode == 0
    assert not knows_ask(west, made.topdir)
    assert call(run, made.topdir, "--undo").returncode == 0
    assert config(made) == CONFIG.encode()


def test_manifest_under_another_name(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    (made.zephyr / "west.yml").rename(made.zephyr / "my trees.yml")
    text = CONFIG.replace("file = west.yml", "# chosen by hand\nFile:my trees.yml")
    (made.topdir / ".west" / "config").write_text(text, encoding="utf-8")
    round_trip(made, run, west)


def test_manifest_file_not_set(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    text = CONFIG.replace("file = west.yml\n", "")
    (made.topdir / ".west" / "config").write_text(text, encoding="utf-8")
    round_trip(made, run, west)


def test_manifest_in_a_nested_folder(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    nested = made.topdir / "apps" / "greenhouse"
    nested.mkdir(parents=True)
    assert run("git", "init", "-q", cwd=nested).returncode == 0
    (nested / "conf").mkdir()
    (nested / "conf" / "west.yml").write_text("manifest:\n  projects: []\n", encoding="utf-8")
    text = "[manifest]\npath = apps/greenhouse\nfile = conf/west.yml\n[zephyr]\nbase = zephyr\n"
    (made.topdir / ".west" / "config").write_text(text, encoding="utf-8")
    round_trip(made, run, west)


def test_manifest_repository_behind_a_link(
    workspace: MakeWorkspace, run: Run, west: Run, tmp_path: Path
) -> None:
    for name in ("linked", "100% linked"):
        made = workspace(name, register=False)
        elsewhere = tmp_path / "deep" / name / "zephyr"
        elsewhere.parent.mkdir(parents=True)
        made.zephyr.rename(elsewhere)
        made.zephyr.symlink_to(elsewhere, target_is_directory=True)
        if name == "linked":
            round_trip(made, run, west)
        else:  # the setting has to be an absolute path, and west crashes on a % in any setting
            refused(call(run, made.topdir), "cannot keep a path with %")
            assert config(made) == CONFIG.encode()


def test_workspace_behind_a_link(
    workspace: MakeWorkspace, run: Run, west: Run, tmp_path: Path
) -> None:
    made = workspace(register=False)
    link = tmp_path / "short"
    link.symlink_to(made.topdir, target_is_directory=True)
    round_trip(Workspace(link, link / "zephyr"), run, west)


def test_the_workspace_can_be_moved(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    assert call(run, made.topdir).returncode == 0
    moved = made.topdir.rename(made.topdir.parent / "moved")
    assert knows_ask(west, moved)


def test_the_manifests_own_commands_and_groups_stay(
    workspace: MakeWorkspace, run: Run, west: Run
) -> None:
    made = workspace(register=False)
    (made.zephyr / "west.yml").write_text(
        "manifest:\n  group-filter: [-orchard]\n  projects:\n"
        "    - name: pear\n      url: https://git.example.com/pear\n      groups: [orchard]\n"
        "    - name: plum\n      url: https://git.example.com/plum\n"
        "  self:\n    path: zephyr\n    west-commands: prune.yml\n",
        encoding="utf-8",
    )
    (made.zephyr / "prune.yml").write_text(
        "west-commands:\n  - file: prune.py\n    commands:\n      - name: prune\n", encoding="utf-8"
    )
    assert call(run, made.topdir).returncode == 0
    assert "\n  prune:" in west("help", cwd=made.topdir).stdout
    names = west("list", "-f", "{name}", cwd=made.topdir).stdout.split()
    assert names == ["manifest", "plum"]


def test_twice_is_once(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    assert call(run, made.topdir).returncode == 0
    once = (config(made), (made.topdir / ".west" / "west-ask.yml").read_bytes(), files(made.topdir))
    done = call(run, made.topdir)
    assert done.returncode == 0, done.stderr
    again = (
        config(made),
        (made.topdir / ".west" / "west-ask.yml").read_bytes(),
        files(made.topdir),
    )
    assert again == once
    for said in ("manifest.file is west.yml again", "Nothing to undo"):
        done = call(run, made.topdir, "--undo")
        assert done.returncode == 0
        assert said in done.stdout
        assert config(made) == CONFIG.encode()


def test_dry_run_writes_nothing(workspace: MakeWorkspace, run: Run) -> None:
    made = workspace(register=False)
    before = (config(made), files(made.topdir))
    done = call(run, made.topdir, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "import: " in done.stdout and "../.west/west-ask.yml" in done.stdout
    assert (config(made), files(made.topdir)) == before
    assert call(run, made.topdir).returncode == 0
    before = (config(made), files(made.topdir))
    assert call(run, made.topdir, "--undo", "--dry-run").returncode == 0
    assert (config(made), files(made.topdir)) == before


def test_settings_made_in_between_stay(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    assert call(run, made.topdir).returncode == 0
    assert west("config", "build.board", "acorn_dk", cwd=made.topdir).returncode == 0
    assert call(run, made.topdir, "--undo").returncode == 0
    assert west("config", "build.board", cwd=made.topdir).stdout.strip() == "acorn_dk"
    assert west("config", "manifest.file", cwd=made.topdir).stdout.strip() == "west.yml"


def test_a_manifest_chosen_in_between_stays(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    shutil.copy(made.zephyr / "west.yml", made.zephyr / "other.yml")
    assert call(run, made.topdir).returncode == 0
    assert west("config", "manifest.file", "other.yml", cwd=made.topdir).returncode == 0
    assert call(run, made.topdir, "--undo").returncode == 0
    assert west("config", "manifest.file", cwd=made.topdir).stdout.strip() == "other.yml"
    assert ".west/west-ask.yml" not in files(made.topdir)


def test_what_is_provided_already_is_left_alone(workspace: MakeWorkspace, run: Run) -> None:
    made = workspace()
    before = (config(made), files(made.topdir))
    done = call(run, made.topdir)
    assert done.returncode == 0
    assert "already" in done.stdout
    assert (config(made), files(made.topdir)) == before


def refused(done: Result, *words: str) -> None:
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_refusals(workspace: MakeWorkspace, run: Run, tmp_path: Path) -> None:
    refused(call(run, tmp_path), "not in a west workspace", "--workspace DIR")
    made = workspace(register=False)
    (made.topdir / "west-ask").mkdir()
    refused(call(run, made.topdir), "in the way")
    (made.topdir / "west-ask").rmdir()
    settings = made.topdir / ".west" / "config"
    for text, word in (
        ("[manifest]\npath = nowhere\n", "does not exist"),
        ("[zephyr]\nbase = zephyr\n", "manifest.path"),
        ("no settings at all\n", "Repair"),
    ):
        settings.write_text(text, encoding="utf-8")
        refused(call(run, made.topdir), word)
        assert settings.read_text(encoding="utf-8") == text
    settings.unlink()
    refused(call(run, made.topdir), "west init")


def test_a_manifest_that_does_not_load_is_not_blamed_on_us(
    workspace: MakeWorkspace, run: Run
) -> None:
    made = workspace(register=False)
    (made.zephyr / "west.yml").write_text("manifest: [torn\n", encoding="utf-8")
    before = (config(made), files(made.topdir))
    refused(call(run, made.topdir), "Nothing was changed")
    assert (config(made), files(made.topdir)) == before


def test_extensions_switched_off(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    west("config", "commands.allow_extensions", "false", cwd=made.topdir)
    before = (config(made), files(made.topdir))
    refused(call(run, made.topdir), "allow_extensions")
    assert (config(made), files(made.topdir)) == before


def test_only_the_one_line_of_the_settings_changes() -> None:
    text = "# top\n[manifest]\npath = zephyr\n\n[zephyr]\nfile = not this one\n"
    added = register.with_line(text, "file = x")
    assert added == text.replace("zephyr\n\n", "zephyr\nfile = x\n\n")
    assert register.with_line(added, None) == text
    windows = "[manifest]\r\npath = zephyr\r\nfile = a\r\n"
    assert register.with_line(windows, "file = b") == windows.replace("= a", "= b")
    assert (
        register.with_line("[manifest]\npath = a", "file = b") == "[manifest]\npath = a\nfile = b\n"
    )


def test_way_a_submanifest(workspace: MakeWorkspace, west: Run) -> None:
    assert knows_ask(west, workspace().topdir)


def test_way_b_application_manifest(workspace: MakeWorkspace, run: Run, west: Run) -> None:
    made = workspace(register=False)
    application = made.topdir / "application"
    application.mkdir()
    (application / "west.yml").write_text(
        ENTRY + "  self:\n    path: application\n", encoding="utf-8"
    )
    assert west("config", "manifest.path", "application", cwd=made.topdir).returncode == 0
    assert not knows_ask(west, made.topdir)  # not cloned yet, and nothing breaks
    (made.topdir / "west-ask").symlink_to(ROOT, target_is_directory=True)
    assert knows_ask(west, made.topdir)


def test_help_shows_the_simple_ways(run: Run, tmp_path: Path) -> None:
    shown = call(run, tmp_path, "--help").stdout
    assert "submanifests/west-ask.yaml" in shown
    assert "west-commands: west-commands.yml" in shown
    assert "west update west-ask" in shown


def test_real_zephyr(zephyr_workspace: Workspace, run: Run, west: Run) -> None:
    """The manifest of Zephyr itself, with its own commands and group filter."""
    entry = zephyr_workspace.zephyr / "submanifests" / "west-ask.yaml"
    link = zephyr_workspace.topdir / "west-ask"
    text = entry.read_text(encoding="utf-8")
    entry.unlink()
    link.unlink()
    try:
        topdir = zephyr_workspace.topdir
        listed = west("list", cwd=topdir).stdout
        assert call(run, topdir).returncode == 0
        assert knows_ask(west, topdir)
        assert "\n  build:" in west("help", cwd=topdir).stdout
        assert west("list", cwd=topdir).stdout == listed
        assert call(run, topdir, "--undo").returncode == 0
        assert config(zephyr_workspace) == CONFIG.encode()
    finally:
        entry.write_text(text, encoding="utf-8")
        link.symlink_to(ROOT, target_is_directory=True)
