"""What all encoders of packed sequences promise about padding."""

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor


def check_padding(encoder: Seq2SeqEncoder, inputs: Tensor, mask: Tensor) -> None:
    """What stands in it changes nothing, the output is zero there, and each row is the same as alone."""
    outputs = encoder(inputs, mask)
    spoiled = torch.where(mask[:, :, None], inputs, torch.full_like(inputs, 1e6))
    assert torch.equal(encoder(spoiled, mask), outputs)
    assert not outputs[~mask].any()
    for row, length in enumerate(mask.sum(1).tolist()):
        alone = encoder(inputs[row : row + 1, :length], mask[row : row + 1, :length])
        assert torch.allclose(outputs[row, :length], alone[0], atol=1e-6)
