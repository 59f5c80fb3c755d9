"""Character ids against AllenNLP's, and back to words."""

import numpy as np
import torch
from allennlp.modules.elmo import batch_to_ids as allennlp_batch_to_ids

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.bilm.characters import ids_to_words, tokens_to_ids
from tests.elmo.samples import SENTENCES


def test_batch_equals_allennlp() -> None:
    ids = batch_to_ids(SENTENCES)
    assert ids.dtype == torch.long and ids.shape == (7, 7, 50)
    assert torch.equal(ids, allennlp_batch_to_ids(SENTENCES))
    assert batch_to_ids([]).shape == (0, 0, 50)
    assert batch_to_ids([[], []]).shape == (2, 0, 50)


def test_ids_to_words() -> None:
    words = ["ab", "é", "日" * 15, "", "y" * 47, "y" * 48, "z" * 60, "<S>", "</S>", "<s>"]
    found = ids_to_words(torch.from_numpy(tokens_to_ids(words).astype(np.int64)))
    expected = [None if word in {"y" * 48, "z" * 60, "<S>", "</S>"} else word.encode() for word in words]
    assert found == expected
    assert ids_to_words(torch.zeros(0, 50, dtype=torch.long)) == []
