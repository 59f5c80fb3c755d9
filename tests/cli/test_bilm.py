"""`elmo-tasks bilm`: arguments and output."""

import re
from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.run_names import LANGUAGE_MODEL
from tests.pretraining import toy
from tests.test_flow import elmo_tasks

bilm = partial(elmo_tasks, "bilm")

WORDS = ["the", "cook", "bakes", "."]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run", WORDS)
    return tmp_path / "run"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cook bakes .\nthe sailor bakes .\n")
    return path


def test_export_then_perplexity(
    run: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    bilm("export", run, out)
    shown = capsys.readouterr().out
    assert f"weights of {run / 'best.th'}" in shown
    assert re.findall(r"bytes +(\S+)", shown) == [
        str(out / name) for name in LANGUAGE_MODEL
    ]
    bilm("perplexity", text, "--model", run)
    of_run = capsys.readouterr().out.splitlines()
    bilm("perplexity", text, "--model", out)
    of_export = capsys.readouterr().out.splitlines()
    assert of_run[1:] == of_export[1:]
    tokens, unknown, forward, backward, mean, _, name = of_run[2].split()
    assert (tokens, unknown, name) == ("10", "10.00", str(text))
    assert float(mean) == pytest.approx(
        (float(forward) * float(backward)) ** 0.5, rel=1e-3
    )
    assert len(of_run) == 3


def test_all_files_are_checked_before_the_first_is_measured(
    run: Path, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (text.parent / "binary.txt").write_bytes(b"a\0b\n")
    with pytest.raises(InputError, match="binary.txt"):
        bilm("perplexity", text, text.parent / "binary.txt", "--model", run)
    assert str(text) not in capsys.readouterr().out
