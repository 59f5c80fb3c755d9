"""Keys that have no effect where they are set."""

import inspect
from collections.abc import Iterator
from typing import Any

from allennlp.training import GradientDescentTrainer

from elmo_tasks.checks.problem import Problem, below, get, nested_objects, shown

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
"""A key, and the keys of which it needs one."""

TORCH_RNNS = ("lstm", "gru", "rnn")


def unused_key_problems(config: dict[str, Any]) -> Iterator[Problem]:
    """Takes a resolved config."""
    for path, needed in NEEDED:
        value = get(config, path)
        if value not in (None, False, "") and not any(get(config, other) for other in needed):
            yield _unused(path, f"no value without {' or '.join(needed)}", value)
    patience, epochs = get(config, "trainer.patience"), get(config, "trainer.num_epochs") or DEFAULT_EPOCHS
    if isinstance(patience, int) and isinstance(epochs, int) and patience >= epochs:
        yield _unused("trainer.patience", f"a number below num_epochs, {epochs}", patience)
    for path, part in nested_objects(config):
        if part.get("type") in TORCH_RNNS and part.get("num_layers", 1) == 1 and part.get("dropout"):
            yield _unused(below(path, "dropout"), "no value if num_layers is 1", part["dropout"])
        kept = part.get("type") == "elmo_tasks_word_vectors" and part.get("keep_all_pretrained")
        if kept and not part.get("pretrained_file"):
            yield _unused(below(path, "keep_all_pretrained"), "no value without pretrained_file", kept)


def _unused(path: str, expected: str, value: Any) -> Problem:
    return Problem(path=path, expected=expected, got=f"{shown(value)}, which has no effect")
