"""What the plugin registers, under which names, and what it does when something is missing."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from allennlp.commands import Subcommand
from allennlp.common import Registrable

import elmo_tasks
from elmo_tasks import plugin, settings

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
    "Subcommand": {"ablate", "ablate-run", "bilm", "cache", "check", "elmo", "probe"},
    "TokenEmbedder": {"elmo_tasks", "elmo_tasks_word_vectors"},
    "TokenIndexer": {"elmo_tasks_characters", "elmo_tasks_predicate", "elmo_tasks_word_ids"},
    "Tokenizer": {"elmo_tasks_spacy", "elmo_tasks_squad"},
    "Trainer": {"elmo_tasks"},
    "TrainerCallback": {"elmo_tasks_lm_progress", "elmo_tasks_tuning"},
    "Vocabulary": {"elmo_tasks_words"},
}
"""Every name that the plugin registers, by the AllenNLP class that it is registered under."""

TAKEN_BY_ALLENNLP_MODELS = {
    "srl",
    "coref",
    "bidaf",
    "squad",
    "snli",
    "bcn",
    "esim",
    "crf_tagger",
    "sst_tokens",
    "language_model",
    "semantic_role_labeling",
    "conll2003",
    "elmo_token_embedder",
    "elmo_characters",
}


def registrations() -> Iterator[tuple[str, str, str]]:
    """Base class, name and defining module of everything in AllenNLP's registry."""
    for base, entries in Registrable._registry.items():
        for name, (subclass, _) in entries.items():
            yield base.__name__, name, subclass.__module__


@pytest.fixture(scope="module")
def everything_imported() -> None:
    """So that a name is seen whether or not the plugin, or another test, imports its module."""
    names = [m.name for m in pkgutil.walk_packages(elmo_tasks.__path__, "elmo_tasks.")]
    assert len(names) >= 12
    for name in names:
        importlib.import_module(name)


def ours() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for base, name, module in registrations():
        if module.startswith("elmo_tasks"):
            found.setdefault(base, set()).add(name)
    return found


def test_the_manifest_is_complete(everything_imported: None) -> None:
    assert ours() == MANIFEST


def test_the_plugin_lists_every_module_that_registers(everything_imported: None) -> None:
    modules = {module for _, _, module in registrations() if module.startswith("elmo_tasks.")}
    listed = {*plugin.REGISTERING_MODULES, "elmo_tasks.compat.training"}
    assert modules - listed == set()
    assert "elmo_tasks.data.tokenizer" in modules


def test_names_carry_the_prefix_but_subcommands() -> None:
    names = {name for base, names in ours().items() if base != "Subcommand" for name in names}
    assert len(names) >= 2
    assert [name for name in names if not f"{name}_".startswith("elmo_tasks_")] == []


def test_no_name_is_taken() -> None:
    core = {(base, name) for base, name, module in registrations() if "elmo_tasks" not in module}
    assert len(core) > 200
    mine = {(base, name) for base, names in MANIFEST.items() for name in names}
    assert mine & core == set()
    assert {name for base, name in mine if base != "Subcommand"} & TAKEN_BY_ALLENNLP_MODELS == set()
    assert {"train", "evaluate", "predict"} <= set(Subcommand.list_available())


def test_every_registering_module_is_named_once() -> None:
    assert len(plugin.REGISTERING_MODULES) == len(set(plugin.REGISTERING_MODULES)) >= 1
    assert all(name.startswith("elmo_tasks.") for name in plugin.REGISTERING_MODULES)


def test_a_missing_module_is_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "REGISTERING_MODULES", ("elmo_tasks.no_such_module",))
    with pytest.raises(ImportError, match=r"elmo_tasks\.no_such_module cannot be imported") as got:
        plugin.register_all()
    assert not isinstance(got.value, ModuleNotFoundError), "AllenNLP would only log it"


def test_the_plugin_sets_the_variables_that_configs_read() -> None:
    assert settings.os.environ["ELMO_TASKS_SCALE"] in settings.SCALES
    assert {"ELMO_TASKS_DATA", "ELMO_TASKS_FIXTURES"} <= set(settings.os.environ)
