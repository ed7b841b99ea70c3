"""The command curves: pictures of metrics, and what cannot be drawn."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from running import run
from stratkit.learn.curves import Look, _draw, read_run, smooth
from stratkit.pictures import COLOURS, new_figure


def a_run(path: pathlib.Path, lines: int = 60, **more: object) -> pathlib.Path:
    """A RUN with metrics of so many steps."""
    path.mkdir()
    with open(path / "metrics.jsonl", "w") as out:
        for step in range(1, lines + 1):
            values = {
                "step": step, "episodes": 8 * step, "entropy": 1 / step, "value_loss": step % 7,
                "returns_mean": [0.5, -0.5], "seconds": {"wait": 0.1}, "age_mean": None,
                "time": 1000 + 36 * step, **more,
            }  # fmt: skip
            if step in (20, 40):
                low = None if lines == 60 else step - 9
                values["eval"] = {"step": step - 10, "elo": step, "low": low, "high": step + 9}
            out.write(json.dumps(values) + "\n")
        out.write('{"step": 61, "ep')  # it is being written
    return path


def said(path: pathlib.Path) -> list[str]:
    """The texts of an SVG picture, as matplotlib leaves them in comments."""
    return re.findall(r"<!-- (.*) -->", path.read_text())


def test_a_line_and_a_colour_for_each_run(tmp_path: pathlib.Path) -> None:
    one, two = a_run(tmp_path / "one"), a_run(tmp_path / "two", 30)
    picture = tmp_path / "out.svg"
    done = run("curves", "one", "two", "-o", picture, cwd=tmp_path)
    assert (done.status, done.data, done.err) == (0, b"", "")
    words = said(picture)
    assert {"entropy", "value loss", "eval/elo", "step", "one", "two"} <= set(words)
    text = picture.read_text()
    assert COLOURS[0] in text and COLOURS[1] in text and COLOURS[2] not in text
    other = run("curves", one, "-o", tmp_path / "a.gif")
    assert (other.status, "pictures are .png or .svg, not .gif" in other.error_line) == (2, True)
    again = run("curves", one, two, "-o", picture)
    assert again.error_line == f"curves: {picture}: exists already; -f overwrites it"
    before = picture.read_bytes()
    assert run("curves", "one", "two", "-f", "-o", picture, cwd=tmp_path).status == 0
    assert picture.read_bytes() == before
    png = run("curves", one, "--field", "returns_mean/1", "--over", "hours", "-o", "-")
    assert png.data.startswith(b"\x89PNG")


def test_a_lone_elo_has_its_interval(tmp_path: pathlib.Path) -> None:
    """A band of one point is nothing to see, and an infinite end was not drawn."""
    for lines, steps, ends in ((30, [20], 2), (60, [20, 40], 1)):  # the longer one has no low ends
        run = read_run(str(a_run(tmp_path / str(lines), lines)))
        axes = new_figure(4, 3).subplots()
        _draw(axes, run, "eval/elo", "step", 1, 0)
        x, _ = run.curve("eval/elo", "step")
        assert len(x) == len(steps)
        bars = [c for c in axes.collections if isinstance(c, LineCollection) and c.get_segments()]
        assert len(bars) == ends
        drawn = {float(point[1]) for bar in bars for line in bar.get_segments() for point in line}
        assert max(drawn) == max(steps) + 9
        arrows = [line for line in axes.lines if line.get_marker() == "v" and len(line.get_xdata())]
        assert len(arrows) == (ends == 1)


def test_a_short_run_has_whole_steps(tmp_path: pathlib.Path) -> None:
    one, picture = a_run(tmp_path / "one", 3), tmp_path / "out.svg"
    assert run("curves", one, "--field", "value_loss", "-o", picture).status == 0
    texts = said(picture)
    assert texts[: texts.index("step")] == ["1", "2", "3"]


def test_what_is_read_and_where_it_is_drawn(tmp_path: pathlib.Path) -> None:
    found = read_run(f"{a_run(tmp_path / 'one')}/")
    assert found.name == str(tmp_path / "one")
    x, y = found.curve("entropy", "episodes")
    assert x.tolist() == [8 * n for n in range(1, 61)] and y[3] == 0.25
    assert found.curve("seconds/wait", "hours")[0][[0, 50]].tolist() == [0, 0.5]
    x, y = found.curve("eval/elo", "step")
    assert (x.tolist(), y.tolist()) == ([10, 30], [20, 40])  # of the checkpoint, not of the line
    assert found.curve("eval/elo", "episodes")[0].tolist() == [160, 320]
    assert "age_mean" not in found.numbers and "eval/low" not in found.numbers
    values = np.array([1.0, 5, 3, 7])
    assert smooth(values, 1).tolist() == values.tolist()
    assert smooth(values, 3).tolist() == [3, 3, 5, 5]
    assert smooth(values, 99).shape == (4,)


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("", "no metrics yet"),
        ("{}\n", "line 1: no metrics of a step"),
        ('{"step": 1}\nnothing\n', "line 2: no metrics of a step"),
        ('{"step": 1, "entropy": 1e999}\n', "line 1: no metrics of a step"),
    ],
)
def test_wrong_metrics(tmp_path: pathlib.Path, lines: str, what: str) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(lines)
    done = run("curves", tmp_path, "-o", tmp_path / "x.png")
    assert (done.status, done.error_line) == (1, f"curves: {file}: {what}")
    assert not (tmp_path / "x.png").exists()


def test_wrong_requests(tmp_path: pathlib.Path) -> None:
    one = a_run(tmp_path / "one")
    out = ("-o", tmp_path / "x.png")
    done = run("curves", one, "--field", "entropi", *out)
    assert done.error_line == "curves: no run has the metric 'entropi' (did you mean 'entropy'?)"
    done = run("curves", tmp_path / "gone", *out)
    assert (done.status, done.error_line) == (
        1,
        f"curves: {tmp_path}/gone: No such file or directory",
    )
    done = run("curves", "one", "one", *out, cwd=tmp_path)
    assert (done.status, done.error_line) == (2, "curves: a RUN is given twice: 'one'")
    assert run("curves", one).status == 2
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize(
    "metrics, field, over, what",
    [
        ({}, (), "step", "no usual metric to draw: choose with --field"),
        ({"kl": 0.5}, ("kl",), "hours", "no metric 'time' to draw 'kl' over"),
        (
            {"eval": {"elo": 3}},
            ("eval/elo",),
            "step",
            "no metric 'eval/step' to draw 'eval/elo' over",
        ),
    ],
)
def test_metrics_of_another_program(
    metrics: dict[str, object],
    field: tuple[str, ...],
    over: str,
    what: str,
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"step": 1, **metrics}) + "\n")
    wanted = [word for name in field for word in ("--field", name)]
    done = run("curves", tmp_path, *wanted, "--over", over, "-o", tmp_path / "x.png")
    assert (done.status, done.error_line) == (1, f"curves: {tmp_path}: {what}")
    assert not (tmp_path / "x.png").exists()


def test_a_band_of_seeds_and_other_scales(tmp_path: pathlib.Path) -> None:
    """A mean and a range instead of lines; an axis that a spike does not flatten."""
    one, two = a_run(tmp_path / "one"), a_run(tmp_path / "two", 30)
    picture = tmp_path / "out.svg"
    arguments = ("curves", one, two, "--field", "value_loss", "--field", "eval/elo", "-o", picture)
    assert run(*arguments, "--band").status == 0
    assert "mean and range of 2 runs" in said(picture) and "one" not in said(picture)
    assert COLOURS[1] not in picture.read_text()
    assert run(*arguments, "-f", "--log", "--robust").status == 0
    assert any("10^{" in text or "mathdefault" in text for text in said(picture))


def test_a_robust_axis_leaves_out_a_spike() -> None:
    axes = new_figure(2, 2).subplots()
    values = np.append(np.linspace(0, 1, 500), 1e6)
    Look(robust=True).scale(axes, values)
    low, high = axes.get_ylim()
    assert -0.1 < low < 0.02 and 0.98 < high < 1.1
