"""Numbers of the command line: out of their range, one line and the exit status 2."""

import argparse
import importlib
from collections.abc import Iterator

import pytest

from elmo_tasks.cli.arguments import location, path, replacement
from elmo_tasks.cli.bilm_surprisal import _mark
from elmo_tasks.cli.main import COMMANDS, run

LEAST = {
    "ablate --seeds": 1,
    "ablate --workers": 1,
    "ablate-run --parent": 1,
    "bilm export --mantissa-bits": 0,
    "bilm perplexity --batch-size": 1,
    "bilm perplexity --max-tokens": 1,
    "bilm prepare --heldout": 0,
    "bilm prepare --workers": 1,
    "bilm random --seed": 0,
    "bilm score --cuda-device": -1,
    "bilm surprisal --cuda-device": -1,
    "elmo --batch-size": 1,
    "elmo --cuda-device": -1,
    "elmo --max-length": 1,
    "elmo --max-tokens": 1,
    "elmo --overlap": 0,
    "elmo --shards": 1,
    "elmo --threads": 1,
    "elmo --workers": 1,
    "evaluate --batch-size": 1,
    "evaluate --cuda-device": -1,
    "predict --batch-size": 1,
    "predict --cuda-device": -1,
    "probe neighbors --cuda-device": -1,
    "probe neighbors --layer": 0,
    "probe neighbors --occurrence": 1,
    "probe neighbors --top": 1,
    "probe pos --cuda-device": -1,
    "probe wsd --cuda-device": -1,
    "serve --port": 0,
    "serve --workers": 1,
    "static --batch-size": 1,
    "static --cuda-device": -1,
    "static --dimensions": 1,
    "static --max-length": 1,
    "static --max-tokens": 1,
    "static --min-count": 1,
    "static --most": 1,
    "static --overlap": 0,
    "static --remove": 0,
    "static --workers": 1,
}
"""The smallest valid value of each numeric option."""

NUMBERS = {f"{command} --download-limit": 3e38 for command in COMMANDS}
NUMBERS["serve --timeout"] = 86_400
"""
The options that take other numbers than integers, above 0, and the largest value of
each.
"""

MOST = {
    "bilm export --mantissa-bits": 23,
    "bilm random --seed": 2**32 - 1,
    "serve --port": 65_535,
    "serve --workers": 256,
}
"""The largest, where it is not that of an integer of 32 bits."""


def options(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command, and of its actions, whose values are not text."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part, nested in action.choices.items():
                yield from options(f"{name} {part}", nested)
        elif action.type not in (None, location, path, replacement, _mark):
            yield f"{name} {action.option_strings[-1]}"


def test_every_numeric_option_is_here() -> None:
    found = []
    for command in COMMANDS:
        module = importlib.import_module(f"elmo_tasks.cli.{command.replace('-', '_')}")
        parser = argparse.ArgumentParser()
        module.add_arguments(parser)
        found += options(command, parser)
    assert sorted(found) == sorted(list(LEAST) + ["serve --timeout"])


@pytest.mark.parametrize("option", LEAST)
def test_out_of_range(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    below = LEAST[option] - 1
    above = MOST.get(option, 2**31 - 1) + 1
    command, _, name = option.rpartition(" ")
    for value in (below, above, "1.5", "x", "", "nan", "inf", "9" * 5000):
        with pytest.raises(SystemExit) as stopped:
            run(command.split() + [f"{name}={value}"])
        (line,) = capsys.readouterr().err.splitlines()
        assert stopped.value.code == 2
        assert f"argument {name}: expected an integer" in line and len(line) < 300


@pytest.mark.parametrize("option", NUMBERS)
def test_not_above_0(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    command, _, name = option.rpartition(" ")
    for value in ("0", "-1", NUMBERS[option] * 1.1, "x", "", "nan", "inf", "1e999"):
        with pytest.raises(SystemExit) as stopped:
            run(command.split() + [f"{name}={value}"])
        (line,) = capsys.readouterr().err.splitlines()
        assert stopped.value.code == 2
        assert f"argument {name}: expected a number above 0" in line


def test_no_part_of_the_text_can_be_held_out_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        run(["bilm", "prepare", "--heldout=1"])
    assert "expected 0, or an integer of at least 2, got 1" in capsys.readouterr().err
