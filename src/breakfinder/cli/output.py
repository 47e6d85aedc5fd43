"""Where a command's report goes: files, standard output, and the terminal while it works."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import click
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner

from breakfinder.errors import UsageError
from breakfinder.pipeline import Progress
from breakfinder.report.collection import Collection
from breakfinder.report.model import Report
from breakfinder.report.render import FILE_NAMES, FORMATS, render
from breakfinder.report.write import write_text


@dataclass
class Outputs:
    """Formats and the files that they go to; None stands for standard output."""

    destinations: list[tuple[str, Path | None]]
    quiet: bool = False
    written: list[Path] = field(default_factory=list)

    @classmethod
    def parse(cls, outputs: tuple[str, ...], default_folder: Path, quiet: bool) -> Outputs:
        """``FORMAT[=FILE]`` options.

        Raises UsageError for an unknown format, and for a file that cannot be written: better now than when
        the work is done.
        """
        if not outputs:
            destinations: list[tuple[str, Path | None]] = [("text", None)]
            destinations += [(name, default_folder / f"report.{name}") for name in ("html", "json")]
        else:
            destinations = [cls._parse_one(output, default_folder) for output in outputs]
        to_standard_output = [name for name, path in destinations if path is None]
        if len(to_standard_output) > 1:
            raise UsageError(
                f"{' and '.join(to_standard_output)} cannot both go to standard output",
                "give one of them a =FILE",
            )
        for _, path in destinations:
            if path is not None:
                check_writable(path)
        return cls(destinations, quiet)

    @staticmethod
    def _parse_one(output: str, default_folder: Path) -> tuple[str, Path | None]:
        name, equals, file = output.partition("=")
        if name not in FORMATS:
            raise UsageError(f"no output format '{name}'", f"choose {', '.join(FORMATS)}")
        if equals and not file:
            raise UsageError(f"--output {output} names no file", f"e.g. --output {name}={FILE_NAMES[name]}")
        if file == "-" or (not file and name in ("text", "github")):
            return name, None
        return name, Path(file) if file else default_folder / FILE_NAMES[name]

    def enter(self, folder: Path) -> None:
        """Make ``folder`` the working directory; files that were named go where they were named."""
        self.destinations = [(name, path and path.absolute()) for name, path in self.destinations]
        os.chdir(folder)

    def prepare(self) -> None:
        """Import what making and writing the report needs, in the background while the model is traced."""
        threading.Thread(target=self._import, daemon=True).start()

    def _import(self) -> None:
        importlib.import_module("breakfinder.assemble")
        for name, _ in self.destinations:
            importlib.import_module(f"breakfinder.report.render.{name}")

    def write(self, report: Report | Collection) -> None:
        """Write every format to where it goes."""
        for name, path in self.destinations:
            if path is not None:
                write_text(path, render(report, name))
                self.written.append(path)
        for name, path in self.destinations:
            if path is None and not (self.quiet and name == "text"):
                self._print(report, name)
        if self.written and not self.quiet:
            click.echo("report: " + ", ".join(_near(path) for path in self.written), err=True)

    def _print(self, report: Report | Collection, name: str) -> None:
        if name == "text":
            from breakfinder.report.render.text import render_text

            console = Console(file=sys.stdout)
            terminal = console.is_terminal
            width = console.width if terminal else None
            click.echo(render_text(report, width=width, color=terminal and not console.no_color), nl=False)
        else:
            click.echo(render(report, name), nl=False)

    def open_page(self) -> None:
        """Open the HTML report that was written.  Raises UsageError if there is none."""
        for name, path in self.destinations:
            if name == "html" and path is not None:
                webbrowser.open(path.resolve().as_uri())
                return
        raise UsageError("--open needs an HTML report in a file", "add --output html=report.html")


def _near(path: Path) -> str:
    """A path as it is shown: relative where it lies below the working directory."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def check_writable(path: Path) -> None:
    """Raises UsageError if a file surely cannot be written there; makes nothing."""
    parent = path.parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if path.is_dir():
        problem = "it is a folder"
    elif not parent.is_dir():
        problem = f"{parent} is no folder"
    elif not os.access(parent, os.W_OK | os.X_OK):
        problem = f"the folder {parent} is not writable"
    else:
        return
    raise UsageError(f"cannot write {path}: {problem}", "give another place with --output FORMAT=FILE")


class ShownProgress:
    """The current stage on standard error while a check runs; silent where that is no terminal."""

    def __init__(self, shown: bool) -> None:
        console = Console(stderr=True)
        self._spinner = Spinner("dots", text="starting")
        self._live = Live(self._spinner, console=console, transient=True, refresh_per_second=10)
        self._shown = shown and console.is_terminal

    def __enter__(self) -> ShownProgress:
        if self._shown:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._live.stop()

    def update_of(self, name: str, progress: Progress) -> None:
        """Of one target among several."""
        self.update(progress, f"{name}: ")

    def update(self, progress: Progress, before: str = "") -> None:
        counts = (
            f", {progress.frames} frames, {progress.breaks} breaks"
            if progress.frames or progress.breaks
            else ""
        )
        self._spinner.update(text=f"{before}{progress.stage}{counts}")
