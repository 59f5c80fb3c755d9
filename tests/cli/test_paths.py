"""An empty path on the command line is an error, and never the current folder."""

import argparse
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from elmo_tasks.cli.main import COMMANDS, run

OTHERS = {
    *(
        "--address",
        "--column",
        "--group",
        "--host",
        "--keep",
        "--language",
        "--local",
        "--layers",
        "--license",
    ),
    *(
        "--overrides",
        "--pieces",
        "--predictor",
        "--regions",
        "--rows",
        "--text",
        "--text-field",
    ),
    *("--tokenizer", "text", "word", "--download", "--remove", "tasks"),
}
"""The arguments that are neither paths nor numbers, and have no choices."""


def arguments(
    command: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, argparse.Action, list[argparse.Action]]]:
    """
    The arguments of a command, and of its actions, that take any text; each with the
    command, and with all required arguments in their order.
    """
    required = [action for action in parser._actions if action.required]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part, nested in action.choices.items():
                yield from arguments(f"{command} {part}", nested)
        elif action.nargs != 0 and action.choices is None:
            yield command, action, required


def name_of(action: argparse.Action) -> str:
    if action.option_strings:
        return action.option_strings[-1]
    return action.dest


def paths() -> Iterator[tuple[str, list[str]]]:
    """Command lines with an empty path, each with the name of its argument."""
    for command in COMMANDS:
        module = importlib.import_module(f"elmo_tasks.cli.{command.replace('-', '_')}")
        parser = argparse.ArgumentParser()
        module.add_arguments(parser)
        for line, tested, required in arguments(command, parser):
            is_number = getattr(tested.type, "__name__", "") == "read"
            if name_of(tested) in OTHERS or is_number:
                continue
            words = line.split()
            for action in {**dict.fromkeys(required), tested: None}:
                words += action.option_strings[-1:]
                words.append("" if action is tested else "x")
            yield name_of(tested), words


PATHS = list(paths())


def test_the_paths_of_the_command_line() -> None:
    names = [" ".join(words[:2]) for _, words in PATHS]
    assert len(names) >= 30
    commands = {words[0] for _, words in PATHS}
    assert commands == set(COMMANDS) - {"data", "models"}


@pytest.mark.parametrize(("name", "words"), PATHS, ids=lambda part: str(part))
def test_an_empty_path_is_one_line(
    name: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        run(words)
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected a path that is not empty, got ''" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["info", "evaluate x x", "predict x x", "serve x"])
@pytest.mark.parametrize("given", ["", "x", "=x", "x="])
def test_a_name_and_its_path(
    command: str, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run([*command.split(), "--local", given])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"argument --local: expected NAME=PATH, got '{given}'" in line
