# SPDX-License-Identifier: Apache-2.0
"""The `west ask` command and its twin outside west, `zephyr-ask`: options, settings, exits.

Nothing heavy is imported before a question is asked: west imports this module for every
`west ask -h`, and shows an error here as an unrelated one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from west.commands import CommandError, WestCommand

from zephyr_ask.types import KINDS, AskError, Kind, SettingError

if TYPE_CHECKING:
    from zephyr_ask.answer import Session
    from zephyr_ask.console import Color
    from zephyr_ask.workspace import Checkout, Workspace

HELP = "ask the documentation of this Zephyr checkout"
DESCRIPTION = """\
Answers a question with passages of the documentation in this workspace's zephyr, each with
the file and the lines it comes from. The index is kept in .west/ask and follows the working
tree: what you changed, added or checked out a moment ago is what is searched. No question
ever causes a network call."""
EPILOG = """\
examples:
  west ask "how do I enable logging"
  west ask -k 3 --in samples "blink an LED"
  west ask --rebuild
  west ask --status
  west ask --json --retrieve-only - < questions.txt
  west ask CONFIG_LOG
  west ask --check prj.conf boards/

Quote the question: a shell takes ? and * for itself. Defaults of the options marked [ask.*]
are set with west config, e.g. west config ask.k 3, or in the environment: WEST_ASK_K=3.
exit codes: 0 answered, 1 error, 2 usage, 3 abstained (nothing here answers the question)
with --check: 0 clean, 1 findings, 2 usage, 4 error"""

ANSWERED, FAILED, USAGE, ABSTAINED, INTERRUPTED = 0, 1, 2, 3, 130
CLEAN, FINDINGS, CHECK_FAILED = 0, 1, 4  # of --check
MAX_PASSAGES = 50  # more is reading the documentation itself


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `west ask` and `zephyr-ask`."""
    parser.add_argument("question", nargs="*", help="the question; - reads one a line from stdin")
    what = parser.add_argument_group("what to do")
    what.add_argument(
        "--retrieve-only",
        action="store_true",
        default=None,
        help="print passages and never generate an answer [ask.retrieve-only]",
    )
    what.add_argument(
        "--rebuild",
        action="store_true",
        help="make the whole index again, every vector included; goes on where it was interrupted",
    )
    what.add_argument(
        "--status",
        action="store_true",
        help="say what is indexed and whether it is current and sound",
    )
    what.add_argument(
        "--fetch",
        action="store_true",
        help="get the encoder's model from the hub, once: the only network access",
    )
    what.add_argument(
        "--check",
        nargs="*",
        metavar="FILE",
        default=None,
        help="report names in files, folders or stdin (-) that this tree does not have",
    )
    which = parser.add_argument_group("which passages")
    which.add_argument(
        "-k",
        type=str,
        metavar="N",
        default=None,
        help="how many passages, at most 2 of one page (default: 5) [ask.k]",
    )
    which.add_argument(
        "--in",
        dest="kinds",
        metavar="KIND",
        action="append",
        default=None,
        help="search only: " + ", ".join(KINDS) + "; several with commas [ask.in]",
    )
    which.add_argument(
        "--model",
        metavar="DIR",
        default=None,
        help="a sentence-transformers folder to encode with [ask.model]",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--json",
        action="store_true",
        default=None,
        help="print one JSON object a question [ask.json]",
    )
    output.add_argument("--sarif", action="store_true",
                        help="with --check: print SARIF 2.1.0, for CI")  # fmt: skip
    output.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default=None,
        help="colours (default: west's color.ui) [ask.color]",
    )
    output.add_argument(
        "-v",
        "--verbose",
        dest="more",
        action="count",
        default=argparse.SUPPRESS,
        help="show reasons and timings; twice: what was run",
    )
    output.add_argument("-q", "--quiet", dest="less", action="count", default=argparse.SUPPRESS,
                        help="no progress, no footer")  # fmt: skip


class Ask(WestCommand):  # type: ignore[misc, unused-ignore]
    """What west runs for `west ask`."""

    def __init__(self) -> None:
        super().__init__("ask", HELP, DESCRIPTION)

    def do_add_parser(self, parser_adder: Any) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = parser_adder.add_parser(
            self.name,
            help=self.help,
            description=self.description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog=EPILOG,
            allow_abbrev=False,
        )
        add_options(parser)
        return parser

    def do_run(self, args: argparse.Namespace, unknown: list[str]) -> None:
        verbosity = getattr(self, "verbosity", None)
        code = run(
            args,
            topdir=Path(self.topdir) if self.topdir else None,
            checkouts=_checkouts(self.manifest) if self.has_manifest else [],
            config=self.config.get if self.config else lambda name, default=None: default,
            verbosity=int(verbosity) - 3 if verbosity is not None else 0,  # west: 3 is INF
            usage=self.parser.error,
        )
        if code:
            raise CommandError(code)  # type: ignore[no-untyped-call, unused-ignore]


def main(argv: Sequence[str] | None = None) -> int:
    """`zephyr-ask`: the same with ZEPHYR_BASE, inside a west workspace or not."""
    parser = argparse.ArgumentParser(
        prog="zephyr-ask",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=EPILOG.replace("west ask", "zephyr-ask"),
        allow_abbrev=False,
    )
    add_options(parser)
    args = parser.parse_args(argv)
    try:
        topdir, checkouts, config = _west_context()
        return run(args, topdir=topdir, checkouts=checkouts, config=config, verbosity=0,
                   usage=parser.error)  # fmt: skip
    except KeyboardInterrupt:
        return INTERRUPTED


def _checkouts(manifest: Any) -> list[Checkout]:
    """The projects of a west manifest."""
    from zephyr_ask.workspace import Checkout

    found = []
    for at, project in enumerate(manifest.projects):
        if project.abspath:
            commands = tuple(str(name) for name in project.west_commands or ())
            found.append(Checkout(Path(project.abspath), str(project.name), commands, at == 0))
    return found


def _west_context() -> tuple[Path | None, list[Checkout], Callable[..., Any]]:
    """The workspace around the current folder, if west sees one, and west's settings."""
    from west.configuration import Configuration
    from west.util import WestNotFound, west_topdir

    try:
        topdir: Path | None = Path(west_topdir())
    except WestNotFound:
        topdir = None
    try:
        config = Configuration(topdir=str(topdir) if topdir else None)
        base = config.get("zephyr.base")
    except Exception as error:  # west raises whatever its parser does
        raise SystemExit(f"error: west's configuration cannot be read: {error}") from error
    if base and topdir and not os.environ.get("ZEPHYR_BASE"):
        os.environ["ZEPHYR_BASE"] = str(topdir / base)
    return topdir, _of_manifest(topdir) if topdir else [], config.get


def _of_manifest(topdir: Path) -> list[Checkout]:
    """The manifest's projects; zephyr alone where the manifest cannot be read as it stands."""
    from west.manifest import Manifest

    from zephyr_ask.workspace import Checkout

    try:
        return _checkouts(Manifest.from_topdir(topdir=topdir))
    except Exception:  # west has no class of its own for all that may be wrong with one
        return [Checkout(topdir / "zephyr", "zephyr", (), False)]


@dataclass(frozen=True)
class Settings:
    """Options after flag, environment, west's configuration and default, in that order."""

    k: int
    kinds: tuple[Kind, ...]
    model: str | None
    json: bool
    retrieve_only: bool
    color: Color


def settings(
    args: argparse.Namespace, config: Callable[..., Any], environ: Mapping[str, str]
) -> Settings:
    """Raises SettingError that names the setting and where its value came from."""

    def value(name: str, flag: Any) -> tuple[Any, str]:
        option = {"k": "-k", "in": "--in"}.get(name, f"--{name}")
        if flag is not None:
            return flag, option
        variable = "WEST_ASK_" + name.upper().replace("-", "_")
        if environ.get(variable):
            return environ[variable], variable
        try:
            return config(f"ask.{name}"), f"ask.{name}"
        except Exception as error:
            raise SettingError(
                f"ask.{name} cannot be read: {error}", f"west config ask.{name}"
            ) from error

    color, where = value("color", args.color)
    if color is None:
        try:
            ui = config("color.ui")
        except Exception:  # a broken setting of west's own: west has said so
            ui = None
        color = "never" if ui is not None and not _truth(ui, "color.ui") else "auto"
    if color not in ("auto", "always", "never"):
        raise SettingError(f"{where} is {color!r}", "auto, always or never")
    model, _ = value("model", args.model)
    return Settings(
        k=_count(*value("k", args.k)),
        kinds=_kinds(*value("in", args.kinds)),
        model=str(model) if model else None,
        json=_truth(*value("json", args.json)),
        retrieve_only=_truth(*value("retrieve-only", args.retrieve_only)),
        color=cast("Color", color),
    )


def _count(value: Any, where: str) -> int:
    if value is None:
        return 5
    text = str(value).strip()
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_PASSAGES:
        raise SettingError(f"{where} is {text[:40]!r}", f"a number from 1 to {MAX_PASSAGES}")
    return int(text)


def _kinds(value: Any, where: str) -> tuple[Kind, ...]:
    parts = value if isinstance(value, list) else [str(value)] if value else []
    names = [name.strip() for part in parts for name in part.split(",") if name.strip()]
    for name in names:
        if name not in KINDS:
            raise SettingError(f"{where} is {name[:40]!r}", f"one of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)


def _truth(value: Any, where: str) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    text = str(value).strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise SettingError(f"{where} is {text[:40]!r}", "true or false")


def run(
    args: argparse.Namespace,
    *,
    topdir: Path | None,
    checkouts: Sequence[Checkout],
    config: Callable[..., Any],
    verbosity: int,
    usage: Callable[[str], Any],
) -> int:
    """Do what the options say; the exit code. Errors are told on stderr, never raised."""
    from zephyr_ask.console import quiet_broken_pipe

    verbosity += getattr(args, "more", 0) - getattr(args, "less", 0)
    question = " ".join(args.question)
    if args.check is not None:  # west ask --check -v FILE: what follows are files as well
        args.check, args.question, question = [*args.check, *args.question], [], ""
        if not args.check:
            usage("--check needs a file, a folder, or - for stdin")
    if args.check and (args.rebuild or args.status or args.fetch):
        usage("--check goes alone: --rebuild, --status and --fetch in a call of their own")
    if args.sarif and not args.check:
        usage("--sarif is for --check")
    if not (question or args.question or args.rebuild or args.status or args.fetch or args.check):
        usage('no question: try west ask "how do I enable logging"')
    pipe = quiet_broken_pipe()
    failed = CHECK_FAILED if args.check else FAILED
    code = failed
    try:
        with pipe:
            code = _guarded(args, question, topdir, checkouts, config, verbosity)
    except OSError as error:  # a full disk behind stdout
        pipe.lead_nowhere()
        _tell_error(AskError(f"the answer cannot be written: {error.strerror or error}"))
        return failed
    return ANSWERED if pipe.broken and not args.check else code


def _guarded(
    args: argparse.Namespace,
    question: str,
    topdir: Path | None,
    checkouts: Sequence[Checkout],
    config: Callable[..., Any],
    verbosity: int,
) -> int:
    """`_run`, with its errors told and turned into exit codes."""
    failed = CHECK_FAILED if args.check else FAILED
    try:
        chosen = settings(args, config, os.environ)
        return _run(args, chosen, question, topdir, checkouts, verbosity)
    except SettingError as error:
        _tell_error(error)
        return USAGE if error.message.startswith("-") else failed
    except AskError as error:
        _tell_error(error)
        return failed
    except ModuleNotFoundError as error:
        _tell_error(_missing(error))
        return failed


def _missing(error: ModuleNotFoundError) -> AskError:
    name = (error.name or "a package").partition(".")[0]
    return AskError(
        f"the Python package {name} is not installed for {sys.executable}",
        f"{sys.executable} -m pip install {name.replace('_', '-')}",
    )


def _tell(line: str) -> None:
    """One remark on stderr."""
    from zephyr_ask.console import clean

    stream = sys.stderr
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):  # talk must not cost the answer
            print(
                clean(line, getattr(stream, "encoding", None) or "ascii"), file=stream, flush=True
            )


def _tell_error(error: AskError) -> None:
    _tell(f"error: {error.message}" + (f"\n  try: {error.hint}" if error.hint else ""))


def _run(
    args: argparse.Namespace,
    chosen: Settings,
    question: str,
    topdir: Path | None,
    checkouts: Sequence[Checkout],
    verbosity: int,
) -> int:
    from zephyr_ask.ahead import Ahead
    from zephyr_ask.console import StageProgress
    from zephyr_ask.workspace import find, user_cache

    quiet = verbosity < 0
    with StageProgress(color=chosen.color, quiet=quiet) as progress:
        if args.fetch:
            from zephyr_ask.fetch import fetch

            model = fetch(user_cache(os.environ), progress)
            progress.close()
            _tell(f"fetched {model.name} ({model.hash[:10]})")
            if not (question or args.rebuild or args.status):
                return ANSWERED
        workspace = find(os.environ, topdir, checkouts)
        if topdir and not workspace.base.is_relative_to(topdir) and not quiet:
            _tell(f"note: ZEPHYR_BASE is outside this workspace: answering from {workspace.base}")

        def say(line: str) -> None:
            progress.close()
            if not quiet:
                _tell(f"note: {line}")

        ahead = None
        if question or args.check:  # first of all: it goes on while the rest is loaded
            ahead = Ahead(workspace.index_files()[0], workspace.base)
        from zephyr_ask.answer import Session
        from zephyr_ask.naming import names_in

        warm = bool(question) and not names_in(question)[1]
        session = Session(
            workspace,
            model=chosen.model,
            cache=user_cache(os.environ),
            warm=warm,
            ahead=ahead,
            progress=progress,
            say=say,
        )
        try:
            return _serve(args, chosen, question, session, progress, verbosity, workspace)
        finally:
            session.close()


def _serve(
    args: argparse.Namespace,
    chosen: Settings,
    question: str,
    session: Session,
    progress: Any,
    verbosity: int,
    workspace: Workspace,
) -> int:
    if verbosity >= 2:
        _tell(f"zephyr: {workspace.base}\nindex: {session.index().path or 'in memory'}")
    if args.rebuild:
        session.rebuild()
        progress.close()
        if not question and not args.status and verbosity >= 0:
            counts = session.status(check=False)["index"]
            _tell(f"indexed {counts['pages']:,} pages: {counts['chunks']:,} chunks, "
                  f"{counts['vectors']:,} vectors, {counts['bytes'] / 1e6:.1f} MB")  # fmt: skip
    if args.status:
        status = session.status()
        progress.close()
        if chosen.json:
            print(json.dumps(status))
        else:
            _print_status(status)
        return FAILED if status["index"]["problems"] else ANSWERED
    if args.check:
        return _check(args, chosen, session, progress, verbosity)
    if not question and not args.question:
        return ANSWERED
    if args.question == ["-"]:
        return _serve_lines(chosen, session, progress, verbosity)
    _get_ready_to_print(chosen)
    answer = session.ask(question, chosen.k, chosen.kinds)
    progress.close()
    _print(answer, chosen, verbosity)
    return ABSTAINED if answer.abstained else ANSWERED


def _check(
    args: argparse.Namespace, chosen: Settings, session: Session, progress: Any, verbosity: int
) -> int:
    from zephyr_ask import checking

    checked = session.check(args.check)
    progress.close()
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    if args.sarif:
        print(checking.to_sarif(checked, _version()))
    elif chosen.json:
        print(checking.to_json(checked))
    elif chosen.color == "always" or (chosen.color == "auto" and _is_terminal()):
        from zephyr_ask.console import clean, make_console

        console = make_console(color=chosen.color)
        for line in checking.colored(checked):
            line.plain = clean(line.plain, encoding)
            console.print(line, soft_wrap=True)
    else:
        from zephyr_ask.console import clean

        for text in checking.lines(checked):
            print(clean(text, encoding))
    if sys.stdout is not None:
        sys.stdout.flush()
    for text in checking.talk(checked, verbosity):
        _tell(text)
    if verbosity >= 0:
        _tell(checking.summary(checked))
    if any(entry.given for entry in checked.skipped):
        return CHECK_FAILED
    return FINDINGS if checked.findings else CLEAN


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("west-ask")
    except PackageNotFoundError:  # registered from a checkout
        return "0"


def _get_ready_to_print(chosen: Settings) -> None:
    """Import what prints the answer while the encoder is loaded by another thread."""
    import zephyr_ask.render  # noqa: F401

    if not chosen.json:
        import rich.text  # noqa: F401

        import zephyr_ask.layout  # noqa: F401


def _print(answer: Any, chosen: Settings, verbosity: int) -> None:
    from zephyr_ask.render import answer_to_json, print_answer

    if chosen.json:
        print(answer_to_json(answer), flush=True)
        return
    from zephyr_ask.console import make_console

    print_answer(make_console(color=chosen.color), answer, verbosity=verbosity)


def _serve_lines(chosen: Settings, session: Session, progress: Any, verbosity: int) -> int:
    """A question a line of stdin, an answer each; a line that fails does not end it."""
    code = ANSWERED
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise AskError("there is no standard input to read questions from")
    for raw in stream:
        line = raw.decode("utf-8", errors="replace").strip()
        if not line:
            continue
        try:
            answer = session.ask(line, chosen.k, chosen.kinds)
        except AskError as error:
            code = FAILED
            if chosen.json:
                print(json.dumps({"schema": 1, "question": line, "error":
                                  {"message": error.message, "hint": error.hint}}),
                      flush=True)  # fmt: skip
            else:
                _tell_error(error)
            continue
        progress.close()
        _print(answer, chosen, verbosity)
    return code


def _print_status(status: Mapping[str, Any]) -> None:
    revision, index, model = status["revision"], status["index"], status["model"]
    commit = revision["commit"] or "unknown"
    state = {True: ", modified", False: "", None: ""}[revision["modified"]]
    missing = index["chunks"] - index["vectors"]
    lines = [
        ("Zephyr", f"{revision['version']}, commit {commit}{state}"),
        ("tree", revision["path"]),
        ("index", index["path"] or "in memory"),
        ("current", "yes" if index["current"] else "no: the next question will make it so"),
        ("holds", f"{index['pages']:,} pages, {index['chunks']:,} chunks, "
                  f"{index['bytes'] / 1e6:.1f} MB"),
        ("vectors", f"{index['vectors']:,}" + (f", {missing:,} to be made when they are needed"
                                               if missing else ", all")),
        ("model", f"{model['name']} from {model['origin']}, {model['hash'][:16]}" if model
         else "none: answering by words alone"),
        ("sound", "yes" if not index["problems"] else "no: " + "; ".join(index["problems"][:3])),
    ]  # fmt: skip
    if status["model_problem"]:
        lines.append(("model", status["model_problem"]))
    lines += [("note", note) for note in index["notes"]]
    from zephyr_ask.console import clean

    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    for name, text in lines:
        print(clean(f"{name:>8}  {text}", encoding))


if __name__ == "__main__":
    sys.exit(main())
