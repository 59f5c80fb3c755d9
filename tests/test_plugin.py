"""The names that the plugin registers."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from allennlp.common import Registrable

import elmo_tasks
from elmo_tasks import plugin

MANIFEST: dict[str, set[str]] = {
    "BatchSampler": {"elmo_tasks_token_budget"},
    "DataLoader": {"elmo_tasks_lm", "elmo_tasks_share"},
    "DatasetReader": {
        "elmo_tasks_coref",
        "elmo_tasks_lm",
        "elmo_tasks_ner",
        "elmo_tasks_snli",
        "elmo_tasks_squad",
        "elmo_tasks_srl",
        "elmo_tasks_sst",
        "elmo_tasks_task_text",
    },
    "Evaluator": {"elmo_tasks_coref", "elmo_tasks_squad", "elmo_tasks_srl"},
    "Head": {"elmo_tasks_maxout", "elmo_tasks_relu"},
    "LearningRateScheduler": {"elmo_tasks_staircase"},
    "Metric": {
        "elmo_tasks_coref",
        "elmo_tasks_entailment_accuracy",
        "elmo_tasks_entity_f1",
        "elmo_tasks_sentiment_accuracy",
        "elmo_tasks_squad",
        "elmo_tasks_srl_f1",
    },
    "Model": {
        "elmo_tasks_bilm",
        "elmo_tasks_coref",
        "elmo_tasks_ner",
        "elmo_tasks_snli",
        "elmo_tasks_squad",
        "elmo_tasks_srl",
        "elmo_tasks_sst",
        "elmo_tasks_tuned_bilm",
    },
    "MovingAverage": {"elmo_tasks_exponential"},
    "Predictor": {
        "elmo_tasks_coref",
        "elmo_tasks_ner",
        "elmo_tasks_snli",
        "elmo_tasks_squad",
        "elmo_tasks_srl",
        "elmo_tasks_sst",
        "elmo_tasks_tagger",
    },
    "Seq2SeqEncoder": {
        "elmo_tasks_coupled_lstm",
        "elmo_tasks_feedforward_lstm",
        "elmo_tasks_gru",
        "elmo_tasks_highway_lstm",
        "elmo_tasks_stacked_lstm",
    },
    "Seq2VecEncoder": {"elmo_tasks_character_cnn"},
    "Subcommand": {"ablate", "ablate-run", "bilm", "cache", "check", "data", "elmo", "probe"},
    "TokenEmbedder": {"elmo_tasks", "elmo_tasks_word_vectors"},
    "TokenIndexer": {"elmo_tasks_characters", "elmo_tasks_predicate", "elmo_tasks_word_ids"},
    "Tokenizer": {"elmo_tasks_spacy", "elmo_tasks_squad"},
    "Trainer": {"elmo_tasks"},
    "TrainerCallback": {"elmo_tasks_lm_progress", "elmo_tasks_tuning"},
    "Vocabulary": {"elmo_tasks_words"},
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
        importlib.import_module(module.name)


def ours() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for base, name, module in registrations():
        if module.startswith("elmo_tasks"):
            found.setdefault(base, set()).add(name)
    return found


def test_manifest(everything_imported: None) -> None:
    assert ours() == MANIFEST


def test_the_plugin_lists_every_module_that_registers(everything_imported: None) -> None:
    modules = {module for _, _, module in registrations() if module.startswith("elmo_tasks.")}
    listed = {*plugin.REGISTERING_MODULES, "elmo_tasks.compat.training"}
    assert modules - listed == set()
    assert len(plugin.REGISTERING_MODULES) == len(set(plugin.REGISTERING_MODULES))


def test_missing_module_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "REGISTERING_MODULES", ("elmo_tasks.no_such_module",))
    with pytest.raises(ImportError, match=r"elmo_tasks\.no_such_module cannot be imported") as got:
        plugin.register_all()
    assert not isinstance(got.value, ModuleNotFoundError), "AllenNLP would only log that"
