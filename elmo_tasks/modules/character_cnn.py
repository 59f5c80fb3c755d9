"""A convolution over the characters of a word (paper, appendix A.4)."""

import torch
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder
from torch import Tensor, nn

from elmo_tasks.modules.initialization import glorot


@Seq2VecEncoder.register("elmo_tasks_character_cnn")
class CharacterCnn(Seq2VecEncoder):
    """
    Dropout, a convolution of one width, ReLU and the maximum over the word. Unlike with AllenNLP's `cnn`, words are
    padded with zeros at their end, so that they may be shorter than the filter.

    # Parameters

    - `embedding_dim`: width of a character's vector (E).
    - `num_filters`: width of the word's vector (F).
    - `width`: width of the filters, in characters.
    - `dropout`: dropout on the characters' vectors.
    """

    def __init__(self, *, embedding_dim: int, num_filters: int, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.convolution = glorot(nn.Conv1d(embedding_dim, num_filters, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """
        Vectors [N, C, E] of the C characters of N words, and their mask [N, C], bool or 0 and 1 as AllenNLP's
        `character_encoding` gives it -> [N, F]; zero for a word without characters.
        """
        mask = mask.bool()
        characters = torch.where(mask[:, :, None], self.dropout(tokens), 0.0).transpose(1, 2)  # [N, E, C]
        padding = self.convolution.kernel_size[0] - 1
        features = self.convolution(nn.functional.pad(characters, (0, padding))).relu()  # [N, F, C]
        return (features * mask[:, None, :]).amax(2)  # after ReLU, 0 is the minimum

    def get_input_dim(self) -> int:
        return self.convolution.in_channels

    def get_output_dim(self) -> int:
        return self.convolution.out_channels
