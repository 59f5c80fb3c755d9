"""
Which key of a config an error of its construction is about.

AllenNLP constructs the objects of a config in each other. The functions that do so are
in the traceback of an error, with the names of the arguments that they construct: these
make the path of the key.
"""

import inspect
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from allennlp.common import FromParams, Lazy, Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import construct_arg, create_kwargs, infer_params
from allennlp.data import DataLoader, DatasetReader
from torch import nn

from elmo_tasks.errors import InputError, causes, one_line
from elmo_tasks.settings import NAMES, WrongValues
from elmo_tasks.training.checks.files import DATA_PATHS
from elmo_tasks.training.checks.problem import Problem, shown, unknown
from elmo_tasks.training.inlined import Inlining, with_inlined
from elmo_tasks.training.nested import below, get, items, strings

UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
MISSING = re.compile(r"missing \d+ required [\w-]+ arguments?: '(\w+)'")

VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)

BARE = (object.__init__, nn.Module.__init__)
"""Constructors without arguments."""


def parameters_of(cls: Any, constructor: Any) -> dict[str, inspect.Parameter]:
    """
    The arguments of a constructor, as AllenNLP infers them, without those that take any
    others; inlined ones are replaced by their own.
    """
    if constructor in BARE or not hasattr(cls, "from_params"):
        return {}
    parameters: Mapping[str, inspect.Parameter] = infer_params(cls, constructor)
    if inspect.isclass(cls) and issubclass(cls, Inlining):
        parameters = with_inlined(parameters, cls.inlined)
    found = {}
    for name, parameter in parameters.items():
        if name not in ("self", "cls") and parameter.kind not in VARIABLE:
            found[name] = parameter
    return found


def keys_of(cls: Any, constructor: Any) -> set[str]:
    """The keys that a config can set, and those that a training passes."""
    return set(parameters_of(cls, constructor))


def unknown_key(path: str, key: str, cls: Any, known: Iterable[str]) -> Problem:
    """The problem of a key that a class does not take."""
    wanted = f"a key of {cls.__name__}"
    got = f"the unknown key {key}"
    return unknown(below(path, key), wanted, got, known, name=key)


def missing_key(path: str, key: str, cls: Any, got: str = "none") -> Problem:
    """The problem of a key without which a class cannot be constructed."""
    return Problem(below(path, key), f"a value: {cls.__name__} requires it", got)


class Location:
    """
    Where in a config the construction was when it raised an error: the `path` of the
    part, the class `cls` that was constructed there by `constructor`, the arguments
    that were `passed` in addition to the config, and the innermost frame.
    """

    def __init__(self, config: Mapping[str, Any], path: str = "") -> None:
        self.config = config
        self.path = path
        self.cls: Any = None
        self.constructor: Any = None
        self.passed: set[str] = set()
        self.reads_data = False
        self.innermost: FrameType | None = None
        self.object = path

    @property
    def part(self) -> Any:
        """What the config has there."""
        return self.config if not self.path else get(self.config, self.path)

    def follow(self, error: BaseException) -> None:
        """Enter the functions that the error has passed through, once."""
        if self.innermost is not None:
            return
        for frame, _ in traceback.walk_tb(error.__traceback__):
            self._enter(frame)
            self.innermost = frame

    def is_in(self, function: Any) -> bool:
        """Whether this function itself has raised the error."""
        return self.innermost is not None and (
            self.innermost.f_code is function.__code__
        )

    def local(self, name: str) -> Any:
        """A variable of the function that has raised the error."""
        return None if self.innermost is None else self.innermost.f_locals.get(name)

    def _enter(self, frame: FrameType) -> None:
        code = frame.f_code
        values = frame.f_locals
        if code is Lazy.construct.__code__:
            self.path = self._path_of(values["self"])
            self.object = self.path
        elif code is FromParams.from_params.__func__.__code__:
            self._construct(values["cls"], values.get("constructor_to_inspect"))
            self.passed = set(values["extras"])
        elif code is create_kwargs.__code__:
            self.object = self.path
            self._construct(values["cls"], values["constructor"])
            self.passed = set(values["extras"])
        elif code is construct_arg.__code__:
            self.path = below(self.object, values["argument_name"])
        elif code is DatasetReader.read.__code__ and not self.reads_data:
            for key in DATA_PATHS:
                if self.config.get(key) == values["file_path"]:
                    self.path = key
                    self.reads_data = True
                    break
        elif code.co_name == "__len__" and isinstance(values.get("self"), DataLoader):
            self.path = "data_loader"  # whose batches the trainer counts
            self._construct(type(values["self"]), None)

    def _construct(self, cls: Any, constructor: Any) -> None:
        self.cls = cls
        self.constructor = constructor

    def _path_of(self, lazy: Any) -> str:
        """The path of an object that its owner constructs later than its own."""
        history = getattr(lazy._params, "history", "").removesuffix(".")
        if history and ".list" not in history:
            return history
        owner = {} if self.innermost is None else self.innermost.f_locals
        for name, value in owner.items():
            if value is lazy and get(self.config, below(self.path, name)) is not None:
                return below(self.path, name)
            if isinstance(value, list):
                for number, one in enumerate(value):
                    if one is lazy:
                        return below(below(self.path, name), number)
        return self.path


def problems_of(error: BaseException, location: Location) -> list[Problem]:
    """
    What an error of a construction that began at a location says about the config: the
    problems of keys, or what the error says.
    """
    return key_problems(error, location) or [said_by(error, location)]


def key_problems(error: BaseException, location: Location) -> list[Problem]:
    """
    The keys that are unknown or missing, and the values that do not fit; none if the
    error is another one, such as one of the data.
    """
    location.follow(error)
    attempts = list(causes(error))[1:]
    if location.is_in(construct_arg) and attempts:  # of the types of a union
        return _of_union(attempts, location)
    return list(_of_keys(error, location))


@contextmanager
def blamed(config: Mapping[str, Any], path: str = "") -> Iterator[None]:
    """
    Replaces an error of the construction of a part of a trained model's config by an
    `InputError` that names the key. Those that name a file stay.
    """
    try:
        yield
    except Exception as error:
        location = Location(config, path)
        found = key_problems(error, location)
        if not found and (isinstance(error, InputError) or one_line(error)):
            raise
        listed = "; ".join(map(str, found or [said_by(error, location)]))
        problem = f"the model's config, with its overrides: {listed}"
        raise InputError(problem) from error


def _of_union(attempts: list[BaseException], location: Location) -> list[Problem]:
    """The problems of the type that fits best: the one in whose parts they are."""
    found = []
    for error in attempts:
        found.append(problems_of(error, Location(location.config, location.object)))
    deepest = max(found, key=lambda problems: len(problems[0].path))
    if deepest[0].path == location.path:
        annotation = location.local("annotation")
        return [Problem(location.path, described(annotation), shown(location.part))]
    return deepest


def _of_keys(error: BaseException, location: Location) -> Iterator[Problem]:
    """The keys that are unknown or missing, and the values that do not fit."""
    path = location.path
    if isinstance(error, WrongValues):
        for wrong in error.found:
            problem = Problem.of(wrong, path)
            given = get(location.config, problem.path)
            if given is not None:  # else it is a default
                problem = problem._replace(got=shown(given))
            yield problem
    elif location.is_in(Params.assert_empty):
        known = keys_of(location.cls, location.constructor) - location.passed
        for key in location.local("self").params:
            yield unknown_key(path, key, location.cls, known)
    elif location.is_in(Params.pop_choice):
        yield _unknown_name(location)
    elif location.is_in(Params.pop) and isinstance(error, ConfigurationError):
        yield from _missing(location)
    elif location.is_in(construct_arg):
        annotation = described(location.local("annotation"))
        yield Problem(path, annotation, shown(location.local("popped_params")))
    elif location.is_in(FromParams.from_params) and isinstance(
        error, ConfigurationError
    ):
        yield Problem(
            path, f"an object ({location.cls.__name__})", shown(location.part)
        )
    elif isinstance(error, TypeError | AttributeError):
        found = list(_of_arguments(str(error), location))
        yield from found or _nulls(str(error), location)


def _missing(location: Location) -> Iterator[Problem]:
    """The unknown keys, one of which may be the missing one, misspelt; or that one."""
    known = keys_of(location.cls, location.constructor)
    unknown_keys = []
    if isinstance(location.part, Mapping) and known:
        unknown_keys = [key for key in location.part if key not in known | {"type"}]
    for key in unknown_keys:
        yield unknown_key(location.path, key, location.cls, known - location.passed)
    if not unknown_keys:
        yield missing_key(location.path, location.local("key"), location.cls)


def _unknown_name(location: Location) -> Problem:
    path = below(location.path, location.local("key"))
    value = location.local("value")
    wanted = f"a registered {location.cls.__name__}"
    more = "; --include-package registers more"
    names = location.local("choices")
    return unknown(path, wanted, shown(value), names, name=str(value), more=more)


def _of_arguments(said: str, location: Location) -> Iterator[Problem]:
    """What Python says of the arguments of a call."""
    if not isinstance(location.part, Mapping):
        return
    unexpected = UNEXPECTED.search(said)
    if unexpected is not None and unexpected[1] in location.part:
        known = keys_of(location.cls, location.constructor) - location.passed
        yield unknown_key(location.path, unexpected[1], location.cls, known)
    missing = MISSING.search(said)
    if missing is not None and missing[1] not in location.part:
        yield missing_key(location.path, missing[1], location.cls)


def _nulls(said: str, location: Location) -> Iterator[Problem]:
    """
    The keys that are null although their default is not, if the error is one of null:
    AllenNLP passes null on for any type.
    """
    if "NoneType" not in said or not isinstance(location.part, Mapping):
        return
    parameters = parameters_of(location.cls, location.constructor)
    for key, value in location.part.items():
        if value is None and key in parameters and parameters[key].default is not None:
            yield Problem(below(location.path, key), "a value other than null", "null")


def described(annotation: Any) -> str:
    """A type in words, or as it stands in code, without modules and `Lazy`."""
    if annotation in NAMES:
        return NAMES[annotation]
    text = re.sub(r"\b(\w+\.)+", "", inspect.formatannotation(annotation))
    return re.sub(r"\bLazy\[(\w+)\]", r"\1", text)


def said_by(error: BaseException, location: Location, expected: str = "") -> Problem:
    """
    What the error says, of a part whose text it repeats, or else of the part that was
    constructed, of which something else may have been `expected`.
    """
    location.follow(error)
    said = first_line(error)
    path = _quoted(said, location)
    if location.cls is not None:
        expected = f"what {location.cls.__name__} takes"
    if isinstance(error, InputError) or not expected:
        return Problem(path, "", said)
    if path == location.path and not location.reads_data:
        numbers = _doubtful(error, location)
        if numbers:
            got = ", ".join([shown(number) for number in numbers.values()])
            return Problem(", ".join(numbers), expected, f"{got} ({said})")
    return Problem(path, expected, f"{shown(location.part)} ({said})")


def _doubtful(error: BaseException, location: Location) -> dict[str, Any]:
    """
    The numbers that an error which names no key may be about, by their paths: zeros
    after a division by zero, else negative ones; of the part that was constructed, or
    if it has none, of the data loader, whose batches the trainer counts. AllenNLP and
    torch check few of theirs.
    """
    if not isinstance(error, ValueError | ArithmeticError | RuntimeError):
        return {}
    loader = location.config.get("data_loader")
    for path, part in ((location.path, location.part), ("data_loader", loader)):
        found = {}
        for key, number in _numbers(path, part):
            is_zero = isinstance(error, ZeroDivisionError) and number == 0
            if is_zero or number < 0:
                found[key] = number
        if found:
            return found
    return {}


def _numbers(path: str, value: Any) -> Iterator[tuple[str, int | float]]:
    """The numbers in a value, with their paths, without devices: -1 is the CPU."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
    for key, part in items(value):
        if key not in ("cuda_device", "cuda_devices"):
            yield from _numbers(below(path, key), part)


def first_line(error: BaseException) -> str:
    """What an error says in one line."""
    said = one_line(error)
    if said is not None:
        return said
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}".removesuffix(": ")


def _quoted(said: str, location: Location) -> str:
    """
    The path of the text that an error repeats first, of the part that was constructed
    or, in quotes, of the whole config; else that of the location.
    """
    if location.reads_data:
        return location.path
    found = []
    for path, text in strings(location.path, location.part):
        at = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said)
        if len(text) > 1 and at is not None and not path.endswith(".type"):
            found.append((at.start(), -len(text), path))
    if not found:
        for path, text in strings("", location.config):
            at = re.search(rf"(['\"]){re.escape(text)}\1", said)
            if at is not None:
                found.append((at.start(), -len(text), path))
    if not found:
        return location.path
    return min(found)[2]


CONTAINERS = ("text_field_embedder", "token_embedders")
"""Keys that are not in the names of modules."""


def path_of_module(name: str, path: str, part: Any) -> str:
    """
    The deepest part of a model's config whose keys are in the name of a module:
    `token_embedders.predicate` for `embedder.token_embedder_predicate`.
    """
    found = path
    for key, below_it in items(part):
        is_in_name = re.search(rf"(?:^|[._]){re.escape(str(key))}(?:$|[._])", name)
        if not isinstance(below_it, Mapping) or not (key in CONTAINERS or is_in_name):
            continue
        here = path_of_module(name, below(path, key), below_it)
        if here.count(".") > found.count(".") and not here.endswith(CONTAINERS):
            found = here
    return found
