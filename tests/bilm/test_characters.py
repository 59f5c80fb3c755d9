"""Character ids against AllenNLP's."""

import torch
from allennlp.modules.elmo import batch_to_ids as allennlp_batch_to_ids

from elmo_tasks.bilm import batch_to_ids
from tests.elmo.samples import SENTENCES


def test_batch_equals_allennlp() -> None:
    ids = batch_to_ids(SENTENCES)
    assert ids.dtype == torch.long and ids.shape == (7, 7, 50)
    assert torch.equal(ids, allennlp_batch_to_ids(SENTENCES))
    assert batch_to_ids([]).shape == (0, 0, 50)
    assert batch_to_ids([[], []]).shape == (2, 0, 50)
