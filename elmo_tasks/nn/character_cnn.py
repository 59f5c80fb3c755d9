"""
Encoders of a word's characters: the convolutions of the paper's SQuAD and coreference
models, and AllenNLP's in any data type.
"""

from typing import Annotated, Optional

import torch
from allennlp.modules.seq2vec_encoders import CnnEncoder, Seq2VecEncoder
from allennlp.nn import Activation
from overrides import overrides
from pydantic import SkipValidation
from torch import Tensor, nn

from elmo_tasks.nn.initialization import glorot
from elmo_tasks.settings import AsTuple, Filled, ListOf, Probability, Width, checked


@Seq2VecEncoder.register("elmo_tasks_character_cnn")
class CharacterCnn(Seq2VecEncoder):
    """
    Dropout, a convolution of one width, ReLU and the maximum over the word. Unlike with
    AllenNLP's `cnn`, words are padded with zeros at their end, so that they may be
    shorter than the filter.

    # Parameters

    - `embedding_dim`: width of a character's vector (E).
    - `num_filters`: number of filters, the width of a word's vector (F).
    - `width`: characters that the filter reads.
    - `dropout`: dropout on the characters' vectors.
    """

    @checked
    def __init__(
        self,
        *,
        embedding_dim: Width,
        num_filters: Width,
        width: Width,
        dropout: Probability = 0.0,
    ) -> None:
        super().__init__()
        self.convolution = glorot(nn.Conv1d(embedding_dim, num_filters, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """
        Vectors [N, C, E] of the C characters of N words, and their mask [N, C], bool or
        0 and 1 as AllenNLP's `character_encoding` gives it -> [N, F]; zero for a word
        without characters.
        """
        mask = mask.bool()
        characters = torch.where(mask[:, :, None], self.dropout(tokens), 0.0)
        characters = characters.transpose(1, 2)  # [N, E, C]
        padding = self.convolution.kernel_size[0] - 1
        padded = nn.functional.pad(characters, (0, padding))
        features = self.convolution(padded).relu()  # [N, F, C]
        return (features * mask[:, None, :]).amax(2)  # after ReLU, 0 is the minimum

    @overrides
    def get_input_dim(self) -> int:
        return self.convolution.in_channels

    @overrides
    def get_output_dim(self) -> int:
        return self.convolution.out_channels


@Seq2VecEncoder.register("elmo_tasks_character_cnns")
class CharacterCnns(Seq2VecEncoder):
    """
    The concatenated outputs of several `elmo_tasks_character_cnn` of different widths:
    3, 4 and 5, with 50 filters each, in the coreference model of Lee et al. (2017,
    section 5).

    With AllenNLP's `cnn`, a word that is shorter than a filter has no features from it,
    and one of two letters has none at all.

    # Parameters

    - `embedding_dim`: width of a character's vector (E).
    - `num_filters`: number of filters of each width (F).
    - `widths`: the widths in characters (W of them).
    - `dropout`: dropout on the characters' vectors.
    """

    @checked
    def __init__(
        self,
        *,
        embedding_dim: Width,
        num_filters: Width,
        widths: Annotated[ListOf[Width], Filled],
        dropout: Probability = 0.0,
    ) -> None:
        super().__init__()
        self.parts = nn.ModuleList()
        for width in widths:
            part = CharacterCnn(
                embedding_dim=embedding_dim,
                num_filters=num_filters,
                width=width,
                dropout=dropout,
            )
            self.parts.append(part)
        self._input_dim = embedding_dim
        self._output_dim = num_filters * len(widths)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """
        Characters [N, C, E] and their mask [N, C] -> [N, W * F]; see `CharacterCnn`.
        """
        return torch.cat([part(tokens, mask) for part in self.parts], 1)

    @overrides
    def get_input_dim(self) -> int:
        return self._input_dim

    @overrides
    def get_output_dim(self) -> int:
        return self._output_dim


@Seq2VecEncoder.register("cnn", exist_ok=True)
class PaddedCnn(CnnEncoder):
    """
    AllenNLP's `cnn`, with padding that is masked in any data type.

    AllenNLP adds the smallest number of torch's default dtype to the activations of
    padding, and searches for it in the maximum. In another dtype, also under
    `torch.autocast`, it is not found: a word shorter than a filter has features of
    -65504 or minus infinity in place of 0.

    # Parameters

    - `embedding_dim`: width of a character's vector.
    - `num_filters`: number of filters of each width.
    - `ngram_filter_sizes`: the widths in characters.
    - `conv_layer_activation`: activation after the convolutions; null: ReLU.
    - `output_dim`: width of a linear layer on the result; null: no such layer.
    """

    @checked
    def __init__(
        self,
        embedding_dim: Width,
        num_filters: Width,
        ngram_filter_sizes: Annotated[tuple[Width, ...], AsTuple, Filled] = (
            2,
            3,
            4,
            5,
        ),
        conv_layer_activation: Optional[SkipValidation[Activation]] = None,
        output_dim: Optional[Width] = None,
    ) -> None:
        super().__init__(
            embedding_dim,
            num_filters,
            tuple(ngram_filter_sizes),
            conv_layer_activation,
            output_dim,
        )

    @overrides(check_signature=False)
    def forward(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        """
        Characters [N, C, E] and their mask [N, C], padded on the right -> features [N,
        F].
        """
        if mask is None:
            mask = torch.ones_like(tokens[:, :, 0])
        inputs = (tokens * mask[:, :, None]).transpose(1, 2)  # [N, E, C]
        lengths = mask.sum(1)  # [N]
        pooled = []
        for number, size in enumerate(self._ngram_filter_sizes):
            convolution = getattr(self, f"conv_layer_{number}")
            activations = self._activation(convolution(inputs))  # [N, F, C - size + 1]
            pooled.append(_maximum(activations, lengths - size + 1))
        features = torch.cat(pooled, 1)
        if self.projection_layer is None:
            return features
        projected: Tensor = self.projection_layer(features)
        return projected


def _maximum(activations: Tensor, count: Tensor) -> Tensor:
    """
    The maximum of the first `count` [N] positions of [N, F, P]: [N, F]; 0 if there are
    none.
    """
    positions = torch.arange(activations.shape[2], device=activations.device)
    outside = (positions >= count[:, None])[:, None]  # [N, 1, P]
    maximum = activations.masked_fill(outside, -torch.inf).max(2).values  # [N, F]
    return torch.where((count > 0)[:, None], maximum, 0.0)
