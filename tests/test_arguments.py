"""
Every argument of every constructor, function and command: what is not of its type is
refused in one line that names it.
"""

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Unpack, get_args, get_origin

import pytest

from elmo_tasks.cli.main import COMMANDS, run
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import load_trained
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from elmo_tasks.settings import annotations, expected, has_range, wrong_values
from tests.arguments import OF_ELMO, TYPES, Type
from tests.elmo.samples import write_bilm
from tests.package import functions, is_checked, registered, settings
from tests.pretraining import toy

TEXT = ["a b", ["c"]]
GIVEN: dict[str, Any] = {
    "batch": {"tokens": TEXT},
    "folder": "out",
    "lines": [],
    "out": "out",
    "repo_id": "owner/name",
    "sentences": TEXT,
    "settings": {},
    "texts": TEXT,
    "words": ["a"],
}
"""What the methods of `Elmo` and `WordSurprisal` get for their other arguments."""

ELSEWHERE = ("LayerChoices.model", "Elmo.vector_model")
"""Checked by `embed` and the other methods that pass their `layers` on."""

VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


class Subject(NamedTuple):
    """A constructor, function or method, and the annotations of its arguments."""

    name: str
    owner: type | None
    function: Any
    arguments: dict[str, Any]
    required: list[str]

    @property
    def is_of_elmo(self) -> bool:
        """Whether its body checks arguments, too."""
        return self.owner in (Elmo, WordSurprisal)

    def type_of(self, argument: str) -> Type | None:
        """The type of an argument in the tables."""
        tables = [TYPES]
        if self.is_of_elmo:
            tables = [OF_ELMO, TYPES]
        return named(self.name, argument, tables)

    def pattern(self, argument: str, one: Type) -> str:
        """What the error of an argument of a type has."""
        if one in OF_ELMO.values():
            return one.expected
        return rf"\b{argument}(\.[\w.]+)?: expected .*{one.expected}"

    def others(self, given: dict[str, Any]) -> dict[str, Any]:
        """Valid values of the arguments that it requires."""
        found = {}
        for name in self.required:
            found[name] = valid(self.arguments[name])
        if self.is_of_elmo:
            found |= {name: GIVEN[name] for name in GIVEN if name in self.required}
        return found | given.get(self.name, {})

    def call(self, one: Any, **arguments: Any) -> Any:
        """What it returns; `one` is the object if it is a method."""
        if self.owner is None:
            return self.function(**arguments)
        method = self.function.__name__
        if method == "__init__":
            return self.owner(**arguments)
        if inspect.ismethod(getattr(self.owner, method)):
            return getattr(self.owner, method)(**arguments)
        return self.function(one, **arguments)


def names_of(owner: str, argument: str) -> list[str]:
    """What the tables can call an argument of a function, method or command."""
    cls = owner.partition(".")[0]
    return [f"{owner}.{argument}", f"{cls}.{argument}", argument]


def named(owner: str, argument: str, tables: list[dict[str, Type]]) -> Type | None:
    """The type that the tables have for an argument."""
    for name in names_of(owner, argument):
        for table in tables:
            for one in table.values():
                if name in one.names.split():
                    return one
    return None


def valid(annotation: Any) -> Any:
    """A value of a type; `None` for objects, which are not checked."""
    for value in (1, 0.5, "x", Path("x"), [1], [0.5], {"lstm": {}}):
        if expected(annotation, value) is None:
            return value
    return None


def subject_of(name: str, owner: type | None, function: Any) -> Subject:
    signature = inspect.signature(function, eval_str=is_checked(function))
    arguments: dict[str, Any] = {}
    required = []
    for key, parameter in signature.parameters.items():
        if get_origin(parameter.annotation) is Unpack:
            arguments |= annotations(get_args(parameter.annotation)[0])
        elif key not in ("self", "cls") and parameter.kind not in VARIABLE:
            arguments[key] = parameter.annotation
            if parameter.default is parameter.empty:
                required.append(key)
    return Subject(name, owner, function, arguments, required)


def subjects() -> Iterator[Subject]:
    """
    What checks its arguments, or should: constructors of registered classes, the public
    methods of `Elmo` and `WordSurprisal`, and all that has an argument with a range.
    """
    from_configs = []
    for one in registered():
        from_configs += one.cls.__mro__
    for owner, function in functions():
        name = function.__qualname__.removesuffix(".__init__")
        subject = subject_of(name, owner, function)
        has_ranges = any(map(has_range, subject.arguments.values()))
        of_config = owner in from_configs and function.__name__ == "__init__"
        of_elmo = subject.is_of_elmo and not function.__name__.startswith("_")
        if name in ELSEWHERE:
            continue
        if is_checked(function) or has_ranges or of_config or of_elmo:
            yield subject
    for cls in settings():
        yield subject_of(cls.__name__, cls, cls.__init__)


SUBJECTS = sorted(subjects(), key=lambda one: one.name)


class Opened(NamedTuple):
    """
    The objects whose methods are called, by their class, and other arguments of the
    methods.
    """

    objects: dict[type | None, Any]
    given: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    folder = tmp_path_factory.mktemp("arguments")
    toy.fake_run(folder / "run")
    trained = load_trained(folder / "run")
    options, weights = write_bilm(folder)
    elmo = Elmo.from_files(options, weights)
    of_model = {"model": trained.model, "vocabulary": trained.vocabulary}
    given = {
        "Elmo": {"layers": elmo.layers},
        "Elmo.from_files": {"options_file": options, "weight_file": weights},
        "Elmo.from_pretrained": {"model": f"{options}+{weights}"},
        "WordSurprisal": of_model,
        "WordSurprisal.from_pretrained": {"model": folder / "run"},
    }
    return Opened({Elmo: elmo, WordSurprisal: WordSurprisal(**of_model)}, given)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder, in which nothing may be written."""
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda one: one.name)
def test_what_is_refused(subject: Subject, opened: Opened) -> None:
    others = subject.others(opened.given)
    for argument, annotation in subject.arguments.items():
        one = subject.type_of(argument)
        if one is None:
            assert not wrong_values("", annotation, object()), f"{argument}: no type"
            continue
        pattern = subject.pattern(argument, one)
        for value in one.good:
            assert not wrong_values(argument, annotation, value), argument
        for value in one.bad:
            found = opened.objects.get(subject.owner)
            with pytest.raises(InputError, match=pattern) as error:
                result = subject.call(found, **others | {argument: value})
                if argument == "sentences":
                    list(result)  # a stream is read late
            assert "\n" not in str(error.value)


def options(
    command: str, parser: argparse.ArgumentParser
) -> Iterator[tuple[str, list[argparse.Action]]]:
    """A command, and each of its actions, with their arguments that take a value."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part, nested in action.choices.items():
                yield from options(f"{command} {part}", nested)
        elif action.nargs != 0:
            found.append(action)
    if found:
        yield command, found


def commands() -> Iterator[tuple[str, list[argparse.Action]]]:
    for command in COMMANDS:
        module = importlib.import_module(f"elmo_tasks.cli.{command.replace('-', '_')}")
        parser = argparse.ArgumentParser()
        module.add_arguments(parser)
        yield from options(command, parser)


def texts(one: Type) -> list[str]:
    """The bad values of a type that a command line can have."""
    if one.good and isinstance(one.good[0], int | float):
        numbers = [str(value) for value in one.bad if type(value) in (int, float)]
        return [*numbers, "", "x"]
    return [value for value in one.bad if isinstance(value, str)]


def words_with(
    line: str, actions: list[argparse.Action], tested: argparse.Action, text: str
) -> list[str]:
    """A command line with a text for one of the arguments."""
    words = line.split()
    required = [action for action in actions if action.required]
    for action in {**dict.fromkeys(required), tested: None}:
        given = text if action is tested else "x"
        if action.option_strings:
            words.append(f"{action.option_strings[-1]}={given}")
        else:
            words.append(given)
    return words


LINES = dict(commands())


@pytest.mark.parametrize("line", LINES)
def test_what_a_command_refuses(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    actions = LINES[line]
    for action in actions:
        one = named(line.replace(" ", "-"), action.dest, [TYPES])
        assert one is not None, f"{action.dest}: no type"
        name = "/".join(action.option_strings) or action.metavar
        for text in texts(one):
            with pytest.raises(SystemExit) as stopped:
                run(words_with(line, actions, action, text))
            problem = capsys.readouterr().err.splitlines()[-1]
            assert stopped.value.code == 2
            assert f"argument {name}: " in problem and len(problem) < 300
            assert re.search(one.expected, problem), text
        if callable(action.type):
            for value in one.good:
                action.type(str(value))


def test_every_name_of_the_tables_is_an_argument() -> None:
    known = set()
    for subject in SUBJECTS:
        for argument in subject.arguments:
            known.update(names_of(subject.name, argument))
    for line, actions in LINES.items():
        for action in actions:
            known.update(names_of(line.replace(" ", "-"), action.dest))
    for table in (TYPES, OF_ELMO):
        names = " ".join([one.names for one in table.values()]).split()
        assert sorted(set(names)) == sorted(names)
        assert set(names) - known == set()
