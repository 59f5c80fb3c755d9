"""Knobs that do nothing where they stand."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.training import GradientDescentTrainer

from elmo_tasks.checks.problem import Problem, below, shown

DEFAULT_EPOCHS: int = inspect.signature(GradientDescentTrainer.from_partial_objects).parameters["num_epochs"].default

NEEDED = (
    ("validation_data_loader", ("validation_data_path", "test_data_path")),
    ("validation_dataset_reader", ("validation_data_path", "test_data_path")),
    ("trainer.validation_metric", ("validation_data_path",)),
    ("trainer.patience", ("validation_data_path",)),
    ("evaluate_on_test", ("test_data_path",)),
    ("batch_weight_key", ("evaluate_on_test",)),
    ("trainer.grad_scaling", ("trainer.use_amp",)),
    ("vocabulary.only_include_pretrained_words", ("vocabulary.pretrained_files",)),
    ("vocabulary.min_pretrained_embeddings", ("vocabulary.pretrained_files",)),
    ("model.elmo.cache_limit_gb", ("model.elmo.cache_dir",)),
)
"""A key, and the keys of which one must be set for it to do anything."""

TORCH_RNNS = ("lstm", "gru", "rnn")


def idle_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """
    # Parameters

    config : `dict[str, Any]`
        Resolved, as for `shape_problems`.
    """
    for path, needed in NEEDED:
        value = _get(config, path)
        if value not in (None, False, "") and not any(_get(config, other) for other in needed):
            yield _idle(path, f"no value without {' or '.join(needed)}", value)
    yield from _late_patience(config)
    for path, part in _objects("", config):
        yield from _idle_within(path, part)
    yield from _frozen_groups(config)


def namespace_problems(config: dict[str, Any], namespaces: set[str]) -> Iterator[Problem]:
    """Limits on parts of the vocabulary that no instance has a token for."""
    for key in ("max_vocab_size", "pretrained_files", "min_pretrained_embeddings"):
        limits = _get(config, f"vocabulary.{key}")
        for name in limits if isinstance(limits, Mapping) else ():
            if name not in namespaces:
                known = ", ".join(sorted(namespaces))
                yield _idle(f"vocabulary.{key}.{name}", f"a namespace of the vocabulary ({known})", name)


def _late_patience(config: dict[str, Any]) -> Iterator[Problem]:
    patience = _get(config, "trainer.patience")
    epochs = _get(config, "trainer.num_epochs") or DEFAULT_EPOCHS
    if isinstance(patience, int) and isinstance(epochs, int) and patience >= epochs:
        yield _idle("trainer.patience", f"a number below num_epochs, {epochs}: it would never stop early", patience)


def _idle_within(path: str, part: dict[str, Any]) -> Iterator[Problem]:
    kind = part.get("type")
    if kind in TORCH_RNNS and part.get("num_layers", 1) == 1 and part.get("dropout"):
        wanted = "no value where num_layers is 1: dropout is between layers alone"
        yield _idle(below(path, "dropout"), wanted, part["dropout"])
    if kind == "elmo_tasks_word_vectors" and part.get("every_word") and not part.get("pretrained_file"):
        yield _idle(below(path, "every_word"), "no value without pretrained_file", part["every_word"])


def _frozen_groups(config: dict[str, Any]) -> Iterator[Problem]:
    """Options of parameter groups that get no gradient."""
    groups = _get(config, "trainer.optimizer.parameter_groups")
    for place, group in enumerate(groups if isinstance(groups, list) else ()):
        options = group[1] if isinstance(group, list) and len(group) == 2 and isinstance(group[1], dict) else {}
        if options.get("requires_grad") is False:
            for key in sorted(options.keys() - {"requires_grad"}):
                path = f"trainer.optimizer.parameter_groups.{place}.1.{key}"
                yield _idle(path, "no value beside requires_grad: false", options[key])


def _idle(path: str, wanted: str, value: Any) -> Problem:
    return Problem(path=path, wanted=wanted, found=f"{shown(value)}, which does nothing", kind="idle")


def _get(config: Any, path: str) -> Any:
    for key in path.split("."):
        if not isinstance(config, Mapping):
            return None
        config = config.get(key)
    return config


def _objects(path: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
    for key, part in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield from _objects(below(path, key), part)
