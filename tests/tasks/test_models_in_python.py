"""Each model is built from its parts, without a config, and predicts."""

from typing import Any

import pytest
from allennlp.common import Lazy
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
from allennlp.predictors import Predictor

from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.nn.encoders.stacked_lstm import StackedLstm
from elmo_tasks.nn.input_encoder import InputEncoder, input_width
from elmo_tasks.tasks.coref.model import CorefModel
from elmo_tasks.tasks.snli.model import EntailmentModel
from elmo_tasks.tasks.squad.model import SquadModel
from elmo_tasks.tasks.srl.model import SrlTagger
from elmo_tasks.tasks.sst.layers import ReluHead
from elmo_tasks.tasks.sst.model import SentimentClassifier
from elmo_tasks.tasks.tagging.model import NerTagger

SENTENCE = {"sentence": "Mira left."}
INPUTS = {
    "ner": SENTENCE,
    "srl": SENTENCE,
    "coref": {"text": "Mira left. She sang."},
    "squad": {"passage": "Mira left.", "question": "Who?"},
    "snli": {"premise": "Mira left.", "hypothesis": "She left."},
    "sst": SENTENCE,
}
OUTPUTS = {
    "ner": "tags",
    "srl": "frames",
    "coref": "clusters",
    "squad": "text",
    "snli": "label",
    "sst": "label",
}


def lstm(width: int) -> StackedLstm:
    """Its output has twice the width of its hidden states."""
    return StackedLstm(input_size=width, hidden_sizes=[16])


def layers(embedder: BasicTextFieldEmbedder | None = None) -> InputEncoder:
    elmo = ElmoTokenEmbedder.open(at="both")
    return InputEncoder(embedder, lstm(input_width(embedder, elmo)), elmo=elmo)


def labels(*names: str) -> Vocabulary:
    return Vocabulary(tokens_to_add={"labels": names})


def model_of(task: str) -> Model:
    if task == "ner":
        return NerTagger(labels("O", "U-PER"), layers())
    if task == "srl":
        predicate = BasicTextFieldEmbedder(
            {"predicate": Embedding(10, num_embeddings=3)}
        )
        return SrlTagger(labels("O", "B-V", "B-ARG0"), layers(predicate))
    if task == "coref":
        return CorefModel(labels(), layers(), head_values="input")
    if task == "squad":
        return SquadModel(labels(), layers())
    if task == "snli":
        return EntailmentModel(labels(), layers(), hidden_size=20, composition=lstm(20))
    encoder = layers()
    extras: dict[str, Any] = {"hidden_sizes": [20], "dropout": [0.1]}
    return SentimentClassifier(
        labels(),
        encoder,
        integrator=lstm(3 * encoder.get_output_dim()),
        head=Lazy(ReluHead, constructor_extras=extras),
    )


@pytest.mark.parametrize("task", INPUTS)
def test_a_model_that_is_built_in_python_predicts(task: str) -> None:
    reader = DatasetReader.by_name(f"elmo_tasks_{task}")()
    predictor = Predictor.by_name(f"elmo_tasks_{task}")(model_of(task).eval(), reader)
    assert OUTPUTS[task] in predictor.predict_json(INPUTS[task])
