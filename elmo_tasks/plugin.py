"""
The AllenNLP plugin (see compat/site/elmo_tasks_plugin.py): importing it registers all names and applies all patches.
"""

import importlib

from elmo_tasks import compat, settings
from elmo_tasks.checks.training import check_before_training
from elmo_tasks.commands.evaluate import improve_evaluate
from elmo_tasks.commands.predict import improve_predict

REGISTERING_MODULES: tuple[str, ...] = (
    "elmo_tasks.commands.ablate",
    "elmo_tasks.commands.bilm",
    "elmo_tasks.commands.cache",
    "elmo_tasks.commands.check",
    "elmo_tasks.commands.data",
    "elmo_tasks.commands.elmo",
    "elmo_tasks.commands.probe",
    "elmo_tasks.coref.evaluator",
    "elmo_tasks.coref.metric",
    "elmo_tasks.coref.model",
    "elmo_tasks.coref.predictor",
    "elmo_tasks.coref.reader",
    "elmo_tasks.coref.schedule",
    "elmo_tasks.data.subsampling",
    "elmo_tasks.prediction.tagger_predictor",
    "elmo_tasks.data.token_budget",
    "elmo_tasks.data.tokenizer",
    "elmo_tasks.data.vectors",
    "elmo_tasks.data.words",
    "elmo_tasks.elmo.embedder",
    "elmo_tasks.elmo.indexer",
    "elmo_tasks.ner.metric",
    "elmo_tasks.ner.model",
    "elmo_tasks.ner.predictor",
    "elmo_tasks.ner.reader",
    "elmo_tasks.modules.character_cnn",
    "elmo_tasks.modules.coupled_lstm",
    "elmo_tasks.modules.feedforward_lstm",
    "elmo_tasks.modules.gru",
    "elmo_tasks.modules.highway_lstm",
    "elmo_tasks.modules.stacked_lstm",
    "elmo_tasks.pretraining.data_loader",
    "elmo_tasks.pretraining.model",
    "elmo_tasks.pretraining.progress",
    "elmo_tasks.pretraining.task_text",
    "elmo_tasks.pretraining.tuning",
    "elmo_tasks.snli.metric",
    "elmo_tasks.snli.model",
    "elmo_tasks.snli.predictor",
    "elmo_tasks.snli.reader",
    "elmo_tasks.squad.evaluator",
    "elmo_tasks.squad.metric",
    "elmo_tasks.squad.model",
    "elmo_tasks.squad.predictor",
    "elmo_tasks.squad.reader",
    "elmo_tasks.squad.tokenization",
    "elmo_tasks.srl.evaluator",
    "elmo_tasks.srl.indexer",
    "elmo_tasks.srl.metric",
    "elmo_tasks.srl.model",
    "elmo_tasks.srl.predictor",
    "elmo_tasks.srl.reader",
    "elmo_tasks.sst.head",
    "elmo_tasks.sst.metric",
    "elmo_tasks.sst.model",
    "elmo_tasks.sst.predictor",
    "elmo_tasks.sst.reader",
    "elmo_tasks.training.trainer",
)


def register_all() -> None:
    """
    Imports every registering module.

    # Raises

    `ImportError`
        If one of them cannot be imported. AllenNLP would log a `ModuleNotFoundError` and continue without the plugin.
    """
    for name in REGISTERING_MODULES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ImportError(f"elmo_tasks.plugin: {name} cannot be imported: {error}") from error


compat.apply()
settings.apply_defaults()
check_before_training()
improve_evaluate()
improve_predict()
register_all()
