"""
The keys of a config and of its trainer, by the signatures of their constructors: there
AllenNLP ignores unknown ones. Everywhere else, constructing a part finds them.
"""

from collections.abc import Collection, Iterator, Mapping
from inspect import Parameter, isclass
from typing import Annotated, Any, Optional

from allennlp.commands.train import TrainModel
from allennlp.common import FromParams
from allennlp.common.from_params import infer_params
from allennlp.evaluation import Evaluator
from allennlp.training import Trainer
from torch import nn

from elmo_tasks.errors import nearest
from elmo_tasks.settings import (
    AsTuple,
    Count,
    Device,
    Factor,
    Filled,
    ListOf,
    Probability,
    Seed,
    Size,
    checked,
    wrong_values,
)
from elmo_tasks.training.config import SEED, SEEDS, below, get, items, strings
from elmo_tasks.training.parts import Inlining, with_inlined

VARIABLE = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)

_BARE = (object.__init__, nn.Module.__init__)
"""Constructors without arguments."""

PLAIN = (bool, int, float, str)


class Distributed(FromParams):
    """
    Training with several processes.

    # Parameters

    - `cuda_devices`: one device for each process of a node: numbers of GPUs, or -1 for
      each CPU process.
    """

    @checked
    def __init__(
        self,
        cuda_devices: Annotated[ListOf[Device], Filled],
        ddp_accelerator: Any = None,
    ) -> None: ...


VALUES: dict[str, Any] = {
    "include_in_archive": Optional[list[str]],
    **dict.fromkeys((SEED, *SEEDS), Optional[Seed]),
}
BESIDE_TRAINING: dict[str, Any] = {
    "distributed": Optional[Distributed],
    "evaluation": Optional[Evaluator],
    **VALUES,
}
"""Keys that the commands read themselves, and AllenNLP's training does not take."""

NUMBERS: dict[str, Any] = {
    "batch_size": Optional[Size],
    "padding_noise": Factor,
    "betas": Annotated[tuple[Probability, Probability], AsTuple],
    "num_epochs": Size,
    "num_gradient_accumulation_steps": Size,
    "num_steps_per_epoch": Optional[Size],
    "warmup_steps": Count,
    "step_size": Size,
    "model_size": Size,
}
"""Of samplers, optimizers and schedules, which do not look at them, or fail."""

LISTS: dict[str, Any] = {
    **dict.fromkeys(
        (
            "end_tokens",
            "no_grad",
            "non_padded_namespaces",
            "prevent_regexes",
            "sorting_keys",
            "start_tokens",
        ),
        Optional[list[str]],
    ),
    "parameter_groups": Optional[
        list[Annotated[tuple[list[str], dict[str, Any]], AsTuple]]
    ],
    "tokens_to_add": Optional[dict[str, list[str]]],
}
"""Of any part: AllenNLP takes the letters of a text for its strings."""

GIVEN_TO_TRAINING = ("serialization_dir", "local_rank", "ddp_accelerator")
"""Arguments of AllenNLP's training that are no keys of a config."""


def parameters_of(cls: Any, constructor: Any) -> dict[str, Parameter]:
    """
    The arguments of a constructor, as AllenNLP infers them, without those that take any
    others; inlined ones are replaced by their own.
    """
    if constructor in _BARE or not hasattr(cls, "from_params"):
        return {}
    parameters: Mapping[str, Parameter] = infer_params(cls, constructor)
    if isclass(cls) and issubclass(cls, Inlining):
        parameters = with_inlined(parameters, cls.inlined)
    found = {}
    for name, parameter in parameters.items():
        if name not in ("self", "cls") and parameter.kind not in VARIABLE:
            found[name] = parameter
    return found


def wrong_keys(config: Mapping[str, Any]) -> Iterator[str]:
    """
    A line for each unknown key of a config and of its trainer, and for each invalid
    value of a key of the config that is neither an object nor a list of objects.
    """
    taken: dict[str, Any] = {"type": str, **BESIDE_TRAINING}
    for key, parameter in parameters_of(
        TrainModel, TrainModel.from_partial_objects
    ).items():
        if key not in GIVEN_TO_TRAINING:
            taken[key] = parameter.annotation
    yield from _unknown("a training", taken, config, "")
    for key, value in config.items():
        if taken.get(key) in PLAIN or key in VALUES:
            yield from map(str, wrong_values(key, taken[key], value))
    if config.get("evaluate_on_test") and config.get("test_data_path") is None:
        yield "evaluate_on_test: expected test_data_path, which is not in the config"
    yield from _other_vectors(config)
    yield from _wrong_parts("", config, LISTS)
    for part in ("data_loader", "validation_data_loader", "trainer"):
        yield from _wrong_parts(part, config.get(part), NUMBERS)
    trainer = config.get("trainer")
    if not isinstance(trainer, Mapping):
        return
    name = trainer.get("type", Trainer.default_implementation)
    if name in Trainer.list_available():
        cls, method = Trainer.resolve_class_name(name)
        keys = parameters_of(cls, getattr(cls, method or "__init__"))
        yield from _unknown(cls.__name__, ["type", *keys], trainer, "trainer")
        for key, parameter in keys.items():
            value = trainer.get(key)
            is_number = parameter.annotation in (int, float) and key not in NUMBERS
            if value is not None and is_number:
                where = below("trainer", key)  # AllenNLP takes a flag for a number
                yield from map(str, wrong_values(where, parameter.annotation, value))


def _wrong_parts(path: str, value: Any, types: Mapping[str, Any]) -> Iterator[str]:
    """A line for each value in a part of a config that is not of its key's type."""
    for key, part in items(value):
        where = below(path, key)
        of_each_task = key == "batch_size" and isinstance(part, Mapping)
        if key in types and not of_each_task:
            yield from map(str, wrong_values(where, types[key], part))
        else:
            yield from _wrong_parts(where, part, types)


def _other_vectors(config: Mapping[str, Any]) -> Iterator[str]:
    """A line for each file of a reader that is not the model's `lookup_file`."""
    files = []
    for path, file in strings("", get(config, "model.text_field_embedder")):
        if path.endswith(".lookup_file"):
            files.append(file)
    for reader in ("dataset_reader", "validation_dataset_reader"):
        key = f"{reader}.lookup_files"
        given = strings(key, get(config, key))
        for expected, (path, file) in zip(files, given, strict=False):
            if file != expected:
                yield f"{path}: expected the model's lookup_file {expected}, got {file}"


def _unknown(
    name: str, taken: Collection[str], options: Mapping[str, Any], path: str
) -> Iterator[str]:
    """A line for each key of an object that is not taken."""
    for key in options:
        if key in taken:
            continue
        hint = f"it has {', '.join(sorted(taken))}"
        near = nearest(key, taken)
        if near is not None:
            hint = f"nearest: {near}"
        problem = f"expected a key of {name}, got the unknown key {key} ({hint})"
        yield f"{below(path, key)}: {problem}"
