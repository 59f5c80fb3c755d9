"""`elmo-tasks` with a model and a trainer of AllenNLP, which know nothing of the paper."""

from pathlib import Path
from typing import Any

from allennlp.models import Model, SimpleTagger

from tests.tiny import ELMO_DIM, SAMPLES, bilm_files


@Model.register("tests_tagger_without_predictor")
class TaggerWithoutPredictor(SimpleTagger):
    """A user's model."""

    default_predictor = None


def tagger(folder: Path) -> dict[str, Any]:
    """The config of a tagger with ELMo; its trainer is the default one, AllenNLP's `gradient_descent`."""
    elmo = {"type": "elmo_tasks", **bilm_files(folder / "bilm")}
    reader = {
        "type": "conll2003",
        "token_indexers": {"elmo": {"type": "elmo_tasks_characters"}},
    }
    return {
        "dataset_reader": reader,
        "train_data_path": str(SAMPLES["ner"]),
        "validation_data_path": str(SAMPLES["ner"]),
        "model": {
            "type": "tests_tagger_without_predictor",
            "text_field_embedder": {"token_embedders": {"elmo": elmo}},
            "encoder": {"type": "pass_through", "input_dim": ELMO_DIM},
        },
        "data_loader": {"batch_size": 2},
        "trainer": {
            "num_epochs": 2,
            "optimizer": "adam",
            "validation_metric": "+accuracy",
        },
    }
