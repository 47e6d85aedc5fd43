"""The picture of a run: compiled graphs and eager stretches in order, to scale.

Positions are percentages of the width, so that the picture fits any screen.  Stretches too narrow to be
seen are merged with their neighbours, which keeps a run of a thousand graphs legible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from breakfinder.report.model import Finding, Frame, Scenario, Segment
from breakfinder.report.render.wording import count

NARROWEST = 0.7
"""Width in percent below which a stretch is merged with its neighbours."""
LABEL_ROOM = 7.0
"""Width in percent that a finding's label takes."""
THINNEST = 0.2


@dataclass
class Block:
    """One rectangle. ``share`` is the captured part of its ops, from 0 to 1."""

    kind: Literal["graph", "eager", "mixed"]
    x: float
    width: float
    captured: int
    eager: int
    segments: int
    frame: str = ""
    """The function that the graph was made from, with the line from which it resumes."""

    @property
    def roomy(self) -> bool:
        return self.kind != "mixed" and self.width > LABEL_ROOM - 2

    @property
    def ops(self) -> int:
        return self.captured + self.eager

    @property
    def share(self) -> float:
        return self.captured / self.ops if self.ops else 0.0

    @property
    def label(self) -> str:
        if self.kind == "mixed":
            return (
                f"{count(self.segments, 'stretch', 'stretches')}: "
                f"{count(self.captured, 'op')} captured, {count(self.eager, 'op')} eager"
            )
        if self.kind == "eager":
            return f"{count(self.eager, 'op')} run in eager"
        where = f", {self.frame}" if self.frame else ""
        graphs = f"{count(self.segments, 'graph')} with " if self.segments > 1 else "graph of "
        return f"{graphs}{count(self.captured, 'op')}{where}"


@dataclass
class Break:
    """A mark where a graph ends at a finding's place. ``label`` is False where there is no room for one."""

    x: float
    finding: Finding
    label: bool


@dataclass
class Run:
    """One call of the subject."""

    call: int
    graphs: int
    captured: int
    eager: int
    blocks: list[Block] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)

    @property
    def named(self) -> bool:
        """Whether any block is wide enough for the name of its function."""
        return any(block.roomy and block.frame for block in self.blocks)

    @property
    def text(self) -> str:
        """What the picture shows, in a sentence."""
        return (
            f"Call {self.call + 1}: {count(self.captured, 'op')} in {count(self.graphs, 'graph run')}, "
            f"{count(self.eager, 'op')} in eager"
        )


def runs(scenario: Scenario, findings: Iterable[Finding]) -> list[Run]:
    """A picture for each call of the scenario, all to the same scale."""
    calls: dict[int, list[Segment]] = {}
    for segment in scenario.segments:
        if segment.ops > 0:
            calls.setdefault(segment.call, []).append(segment)
    longest = max((sum(segment.ops for segment in segments) for segments in calls.values()), default=0)
    frames = {frame.compile_id: frame for frame in scenario.frames}
    causes = _Causes(findings)
    return [_run(call, segments, 100 / longest, frames, causes) for call, segments in sorted(calls.items())]


def frame_name(frame: Frame) -> str:
    if frame.resume_of:
        return f"{frame.resume_of}, resumed at line {frame.resume_line}"
    return frame.function


def cause(frame: Frame, findings: Iterable[Finding]) -> Finding | None:
    """The finding at whose place the frame resumes."""
    return _Causes(findings).of(frame)


class _Causes:
    """Findings by the lines at which a frame resumes after them: their own, or one that calls their place.

    Where several findings have a line on their stacks, none of them is known to be the cause.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._at: dict[tuple[str, int], Finding] = {}
        self._callers: dict[tuple[str, int], list[Finding]] = {}
        for finding in findings:
            if finding.kind == "recompilation":
                continue
            place = finding.location
            for line in range(place.line, min(place.end_line, place.line + 50) + 1):
                self._at.setdefault((place.file, line), finding)
            for at in {(entry.file, entry.line) for entry in finding.stack}:
                self._callers.setdefault(at, []).append(finding)

    def of(self, frame: Frame) -> Finding | None:
        if frame.resume_line is None:
            return None
        at = frame.file, frame.resume_line
        calling = self._callers.get(at, [])
        return self._at.get(at) or (calling[0] if len(calling) == 1 else None)


def _run(call: int, segments: list[Segment], scale: float, frames: dict[str, Frame], causes: _Causes) -> Run:
    graphs = [segment for segment in segments if segment.kind == "graph"]
    captured = sum(segment.ops for segment in graphs)
    eager = sum(segment.ops for segment in segments) - captured
    run = Run(call, len(graphs), captured, eager)
    x = end = 0.0  # where the segment begins, and where the last graph ended
    labelled, last = -2 * LABEL_ROOM, None
    for segment in segments:
        frame = frames.get(segment.compile_id)
        width = segment.ops * scale
        finding = causes.of(frame) if frame else None
        if finding:
            room = LABEL_ROOM * (2 if finding is last else 1)
            roomy = end - labelled >= room and end <= 100 - LABEL_ROOM / 2
            run.breaks.append(Break(round(end, 3), finding, roomy))
            if roomy:
                labelled, last = end, finding
        _add(run.blocks, segment, x, width, frame_name(frame) if frame else "")
        x += width
        end = x if segment.kind == "graph" else end
    run.breaks = _thin(run.breaks)
    for block in run.blocks:
        block.x, block.width = round(block.x, 3), round(max(block.width, THINNEST), 3)
    return run


def _add(blocks: list[Block], segment: Segment, x: float, width: float, frame: str) -> None:
    captured = segment.ops if segment.kind == "graph" else 0
    eager = segment.ops - captured
    last = blocks[-1] if blocks else None
    if last and width < NARROWEST and last.width < NARROWEST:
        last.kind = last.kind if last.kind == segment.kind else "mixed"
        last.width += width
        last.captured += captured
        last.eager += eager
        last.segments += 1
        last.frame = last.frame if last.frame == frame else ""
    else:
        blocks.append(Block(segment.kind, x, width, captured, eager, 1, frame))


def _thin(breaks: list[Break]) -> list[Break]:
    """Without the marks that would lie on top of one another."""
    kept: list[Break] = []
    for mark in breaks:
        if mark.label or not kept or mark.x - kept[-1].x >= NARROWEST / 2:
            kept.append(mark)
    return kept
