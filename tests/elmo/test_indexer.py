"""
The indexer inside AllenNLP's fields: the same tensors as AllenNLP's own, in less
memory.
"""

import numpy as np
import pytest
import torch
from allennlp.data import Batch, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer

from elmo_tasks.bilm.characters import MOST_CHARACTERS, batch_to_ids, fit_slots
from elmo_tasks.nn.indexers import CharacterIndexer
from tests.elmo.samples import SENTENCES


def tensors(indexer: TokenIndexer, sentences: list[list[str]]) -> torch.Tensor:
    instances = []
    for sentence in sentences:
        tokens = [Token(token) for token in sentence]
        instances.append(Instance({"text": TextField(tokens, {"elmo": indexer})}))
    batch = Batch(instances)
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["text"]["elmo"]["elmo_tokens"]


def test_equal_to_batch_to_ids_and_to_allennlp() -> None:
    ids = tensors(CharacterIndexer(), SENTENCES)
    assert ids.dtype == torch.long
    assert torch.equal(ids, batch_to_ids(SENTENCES, longest=MOST_CHARACTERS))
    assert torch.equal(fit_slots(ids), batch_to_ids(SENTENCES))
    assert torch.equal(fit_slots(ids), tensors(ELMoTokenCharactersIndexer(), SENTENCES))


def test_occurrences_share_a_read_only_array() -> None:
    indexed = CharacterIndexer().tokens_to_indices(
        [Token("word"), Token("other"), Token("word")], Vocabulary()
    )
    first, _, third = indexed["elmo_tokens"]
    assert first is third and first.dtype == np.uint16
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1
