"""Helpers for the tests of all task models."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding

from elmo_tasks.nn.encoders.stacked_lstm import StackedLstm
from elmo_tasks.nn.input_encoder import InputEncoder
from tests.tiny import SAMPLES, bilm_files, tiny_model

WORDS = {"tokens": SingleIdTokenIndexer()}
"""The token indexers of `word_encoder`."""


Build = Callable[..., Any]
"""The fixture `build`: `make_model` for the task of the test's folder."""


def corpus(task: str, **keys: Any) -> list[Instance]:
    """
    New instances of a task's sample: those that are indexed give no labels to another
    vocabulary.
    """
    return list(
        DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}", **keys})).read(
            SAMPLES[task]
        )
    )


def metadata(instance: Instance) -> dict[str, Any]:
    """The content of its field `metadata`."""
    return instance["metadata"].metadata


def word_encoder(vocab: Vocabulary) -> InputEncoder:
    """The smallest input encoder."""
    words = BasicTextFieldEmbedder(
        {"tokens": Embedding(4, num_embeddings=vocab.get_vocab_size("tokens"))}
    )
    return InputEncoder(words, StackedLstm(input_size=4, hidden_sizes=[3]))


def tensors(vocab: Vocabulary, given: Sequence[Instance]) -> dict[str, Any]:
    """A batch of these instances."""
    batch = Batch(given)
    batch.index_instances(vocab)
    return batch.as_tensor_dict()


def make_model(
    task: str,
    given: Sequence[Instance],
    folder: Path,
    elmo: dict[str, Any] | None,
    **keys: Any,
) -> Model:
    """
    The tiny model of a task in evaluation mode, with the vocabulary of these instances;
    `elmo` uses a random biLM in `folder`.
    """
    params = {**tiny_model(task), **deepcopy(keys)}
    if elmo is not None:
        params["elmo"] = {**bilm_files(folder), **elmo}
    torch.manual_seed(5)
    return Model.from_params(
        Params(params), vocab=Vocabulary.from_instances(given)
    ).eval()
