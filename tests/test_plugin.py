import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from allennlp.common import Registrable

import elmo_tasks
from elmo_tasks import plugin


def ours(*names: str) -> set[str]:
    return {f"elmo_tasks_{name}" for name in names}


MANIFEST = {
    "BatchSampler": ours("token_budget"),
    "DataLoader": ours("lm", "share"),
    "DatasetReader": ours("coref", "lm", "ner", "snli", "squad", "srl", "sst", "tagger", "task_text"),
    "Evaluator": ours("coref", "squad", "srl"),
    "Head": ours("maxout", "relu"),
    "LearningRateScheduler": ours("staircase"),
    "Metric": ours("coref", "entailment_accuracy", "entity_f1", "squad", "srl_f1"),
    "Model": ours("bilm", "coref", "ner", "snli", "squad", "srl", "sst", "tagger", "tuned_bilm"),
    "MovingAverage": ours("exponential"),
    "Predictor": ours("coref", "ner", "snli", "squad", "srl", "sst", "tagger"),
    "Seq2SeqEncoder": ours("coupled_lstm", "feedforward_lstm", "gru", "highway_lstm", "stacked_lstm"),
    "Seq2VecEncoder": ours("character_cnn"),
    "TokenEmbedder": {"elmo_tasks", "elmo_tasks_concatenated_vectors", "elmo_tasks_word_vectors"},
    "TokenIndexer": ours("characters", "predicate", "word_ids"),
    "Tokenizer": ours("spacy", "squad"),
    "TrainModel": {"elmo_tasks"},
    "Trainer": {"elmo_tasks"},
    "TrainerCallback": ours("lm_progress", "tuning"),
    "Vocabulary": ours("words"),
}
"""Every name that the plugin registers, by the AllenNLP class that it is registered under."""


def registrations() -> Iterator[tuple[str, str, str]]:
    """Base class, name and defining module of everything in AllenNLP's registry."""
    for base, entries in Registrable._registry.items():
        for name, (subclass, _) in entries.items():
            yield base.__name__, name, subclass.__module__


@pytest.fixture(scope="module")
def everything_imported() -> None:
    """Imports every module of the package."""
    for module in pkgutil.walk_packages(elmo_tasks.__path__, "elmo_tasks."):
        if not module.name.startswith("elmo_tasks.integrations."):  # they import other libraries
            importlib.import_module(module.name)


def test_manifest(everything_imported: None) -> None:
    found: dict[str, set[str]] = {}
    for base, name, module in registrations():
        if module.startswith("elmo_tasks"):
            found.setdefault(base, set()).add(name)
    assert found == MANIFEST


def test_the_plugin_lists_every_module_that_registers(everything_imported: None) -> None:
    modules = {module for _, _, module in registrations() if module.startswith("elmo_tasks.")}
    listed = {f"elmo_tasks.{package}.{name}" for package, names in plugin.REGISTERING_MODULES.items() for name in names}
    assert modules - listed == {"elmo_tasks.compat.training"}


def test_missing_module_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "REGISTERING_MODULES", {"sst": ("no_such_module",)})
    with pytest.raises(ImportError, match=r"elmo_tasks\.sst\.no_such_module cannot be imported") as got:
        plugin.register_all()
    assert not isinstance(got.value, ModuleNotFoundError), "AllenNLP would only log that"
