"""A config beside the signatures of what it constructs: unknown keys, wrong types, unknown names, missing keys."""

import copy
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams, Params, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.evaluation import Evaluator
from allennlp.nn.parallel import DdpAccelerator
from allennlp.training.optimizers import Optimizer

from elmo_tasks.checks.annotations import Context, Supplied, value_problems
from elmo_tasks.checks.problem import Problem, a, below, listed, nearest, shown
from elmo_tasks.checks.processes import process_problems
from elmo_tasks.checks.signatures import Choice

GIVEN_TO_TRAINING = frozenset({"serialization_dir", "local_rank", "ddp_accelerator"})

SEEDS = ("seed", "random_seed", "numpy_seed", "pytorch_seed")

BESIDE_TRAINING = ("distributed", "evaluation", "include_in_archive", *SEEDS)
"""Keys of a config that `allennlp train` and `evaluate` read themselves."""

GROUP_OPTIONS = ("requires_grad", "optimizer_name")

DISTRIBUTED = ("cuda_devices", "num_nodes", "primary_address", "primary_port", "ddp_accelerator")


def shape_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    All that the constructors' signatures tell about a config: unknown keys, wrong types, numbers out of range,
    unknown registered names, missing keys. No file is opened, nothing is constructed.

    # Parameters

    config : `Mapping[str, Any]`
        What `allennlp train` reads, resolved: plain dictionaries and lists. It is left as it is.

    # Returns

    `list[Problem]`, in the order of the config.
    """
    plain = Params(copy.deepcopy(dict(config))).as_dict(quiet=True)  # "None" is null, as for AllenNLP
    beside = {key: plain.pop(key) for key in BESIDE_TRAINING if key in plain}
    problems = list(object_problems("", plain, TrainModel, GIVEN_TO_TRAINING, beside=BESIDE_TRAINING))
    if "evaluation" in beside:
        problems += object_problems("evaluation", beside["evaluation"], Evaluator, None)
    problems += _seed_problems(beside)
    problems += _group_problems(plain.get("trainer"))
    problems += _distributed_problems(beside.get("distributed"), plain)
    return in_order(problems, config)


def in_order(problems: list[Problem], config: Mapping[str, Any]) -> list[Problem]:
    """Problems in the order of the config; what is missing comes where its owner stands."""
    places = {path: place for place, path in enumerate(_paths("", dict(config)))}

    def place(problem: Problem) -> int:
        path = problem.path
        while path and path not in places:
            path = path.rpartition(".")[0]
        return places.get(path, -1)

    return sorted(problems, key=place)


def _seed_problems(beside: Mapping[str, Any]) -> Iterator[Problem]:
    for key in SEEDS:
        value = beside.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            yield Problem(path=key, wanted="a whole number of at least 0", found=shown(value), kind="type")


def _group_problems(trainer: Any) -> Iterator[Problem]:
    """
    Those of options of a parameter group: PyTorch takes any. Only what is nearly the name of an option is told, since a
    schedule may read others.
    """
    optimizer = trainer.get("optimizer") if isinstance(trainer, dict) else None
    groups = optimizer.get("parameter_groups") if isinstance(optimizer, dict) else None
    if not isinstance(optimizer, dict) or not isinstance(groups, list):
        return
    try:
        choice, _ = _choose(Optimizer, optimizer)
    except Mismatch:
        return
    if choice is None:
        return
    known = [*(choice.keys().parameters.keys() - {"model_parameters", "parameter_groups"}), *GROUP_OPTIONS]
    for place, group in enumerate(groups):
        path = f"trainer.optimizer.parameter_groups.{place}"
        if not _is_group(group):
            yield Problem(path=path, wanted="[[regex, ...], {option: value, ...}]", found=shown(group), kind="type")
            continue
        for key in group[1]:
            if key not in known and nearest(key, known):
                yield unknown_key(f"{path}.1.{key}", key, choice.cls.__name__, known)


def _is_group(group: Any) -> bool:
    """What AllenNLP takes apart, without a look at it, into regexes and options."""
    if not isinstance(group, list) or len(group) != 2:
        return False
    regexes, options = group
    return isinstance(regexes, list) and all(isinstance(one, str) for one in regexes) and isinstance(options, dict)


def _distributed_problems(given: Any, config: Mapping[str, Any]) -> Iterator[Problem]:
    if given is None:
        return
    if not isinstance(given, Mapping):
        yield Problem(path="distributed", wanted=f"an object ({listed(DISTRIBUTED)})", found=shown(given), kind="type")
        return
    for key, value in given.items():
        if key not in DISTRIBUTED:
            yield unknown_key(below("distributed", key), key, "distributed", DISTRIBUTED)
        elif key == "ddp_accelerator" and value is not None:
            yield from object_problems("distributed.ddp_accelerator", value, DdpAccelerator, None)
    yield from process_problems(given, config)


def _paths(path: str, value: Any) -> Iterator[str]:
    """The paths of all parts, in their order."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield below(path, key)
        yield from _paths(below(path, key), part)


def unknown_key(path: str, key: str, owner: str, known: Any) -> Problem:
    """The problem of a key that nothing reads."""
    near = nearest(key, known)
    wanted = f"a key of {owner}" if near else f"a key of {owner} ({listed(sorted(known)) or 'it has none'})"
    return Problem(path=path, wanted=wanted, found=f"the unknown key {key}", nearest=near, kind="key")


class Mismatch(Exception):
    """The problem of a `type`."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.fields = fields


def object_problems(
    path: str, value: Any, cls: Any, supplied: Supplied, *, beside: tuple[str, ...] = ()
) -> Iterator[Problem]:
    """
    # Parameters

    path, value
        A part of the config that constructs a `cls`, as AllenNLP's `FromParams` does.
    supplied : `Supplied`
        The arguments that code gives it besides.
    beside : `tuple[str, ...]`
        Keys that are known here although no constructor takes them.
    """
    if isinstance(value, str) and Registrable._registry.get(cls) is not None:
        value = {"type": value}
    if not isinstance(value, dict):
        yield Problem(path=path, wanted=f"an object ({cls.__name__})", found=shown(value), kind="type")
        return
    try:
        choice, rest = _choose(cls, value)
    except Mismatch as mismatch:
        yield Problem(path=below(path, "type"), **mismatch.fields)
        return
    if choice is None:
        return
    found = list(_key_problems(path, rest, choice, supplied, beside))
    yield from found
    told = {problem.path for problem in found}
    yield from (problem for problem in _own_problems(path, value, choice.cls) if problem.path not in told)


def _key_problems(
    path: str, config: dict[str, Any], choice: Choice, supplied: Supplied, beside: tuple[str, ...]
) -> Iterator[Problem]:
    keys = choice.keys()
    known = [*(name for name in keys.parameters if name not in (supplied or ())), *beside]
    known += ["type"] if choice.is_registered else []
    context = Context(object_problems, supplied, None)
    for key, value in config.items():
        if key in keys.parameters:
            yield from value_problems(below(path, key), value, keys.parameters[key], choice, context)
        elif not keys.is_open:
            yield unknown_key(below(path, key), key, choice.cls.__name__, known)
    for name, parameter in keys.parameters.items():
        if name in config or supplied is None or name in supplied or parameter.default is not parameter.empty:
            continue
        wanted = f"a value: {choice.cls.__name__} needs it"
        yield Problem(path=below(path, name), wanted=wanted, found="none", kind="missing")


def _choose(cls: Any, config: dict[str, Any]) -> tuple[Choice | None, dict[str, Any]]:
    """
    What AllenNLP constructs for this config, and the keys for it; `None` where a class reads its config by itself.

    # Raises

    `Mismatch` for an unknown registered name.
    """
    rest = dict(config)
    registered = Registrable._registry.get(cls)
    if registered is None:
        if reads_by_itself(cls):
            return None, rest
        if hasattr(cls, "config_problems"):
            rest.pop("type", None)
        return Choice(cls, cls.__init__), rest
    default = cls.default_implementation
    name = rest.pop("type", default)
    if name is None:
        wanted = f"the type of {a(cls.__name__)} ({listed(sorted(registered))})"
        raise Mismatch(wanted=wanted, found="none", kind="missing")
    subclass, constructor = _resolve(cls, name, registered)
    if not hasattr(subclass, "from_params"):
        return Choice(subclass, subclass, is_plain=True, is_registered=True), rest
    if reads_by_itself(subclass):
        return None, rest
    builder = getattr(subclass, constructor) if constructor else subclass.__init__
    return Choice(subclass, builder, is_registered=True), rest


def _resolve(cls: Any, name: Any, registered: Mapping[str, Any]) -> tuple[Any, str | None]:
    wanted = f"the name of {a(cls.__name__)}"
    if not isinstance(name, str):
        raise Mismatch(wanted=wanted, found=shown(name), kind="type")
    if name not in registered and "." not in name:
        near = nearest(name, registered)
        wanted = wanted if near else f"{wanted} ({listed(sorted(registered))})"
        raise Mismatch(wanted=wanted, found=shown(name), kind="name", nearest=near)
    try:
        found: tuple[Any, str | None] = cls.resolve_class_name(name)
    except (ConfigurationError, ImportError) as error:
        raise Mismatch(wanted=wanted, found=f"{shown(name)}: {error}", kind="name") from error
    return found


def reads_by_itself(cls: Any) -> bool:
    """Whether a class has a `from_params` of its own, and does not tell what it wants from a config."""
    method = getattr(cls, "from_params", None)
    own = getattr(method, "__func__", None) is not FromParams.from_params.__func__
    return not inspect.isclass(cls) or (own and not hasattr(cls, "config_problems"))


def _own_problems(path: str, config: dict[str, Any], cls: Any) -> Iterator[Problem]:
    """What a class itself says of its config, through the class method `config_problems`: key, wanted, found."""
    if hasattr(cls, "config_problems"):
        for key, wanted, found in cls.config_problems(config):
            yield Problem(path=below(path, key), wanted=wanted, found=shown(found), kind="value")
