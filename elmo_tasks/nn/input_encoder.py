"""
The first layers of every task model: tokens -> x -> h; the one place where ELMo enters
a model (section 3.3).
"""

from typing import NamedTuple, Optional, Union

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors
from allennlp.modules import InputVariationalDropout, TextFieldEmbedder
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.settings import Probability, checked

WORDS = "tokens"
"""The text field's key of word ids."""

CHARACTERS = "elmo"
"""The text field's key of the biLM's character ids."""

LazyEncoder = Union[Lazy[Seq2SeqEncoder], Seq2SeqEncoder]
"""An encoder, or that of a config, whose width follows from other parts."""

NOTHING_LEFT = (
    "nothing is left to embed: no word vectors, no characters, no ELMo at the input"
)


class InputEncoderOutput(NamedTuple):
    """Vectors of B sentences of T tokens."""

    h: Tensor
    """
    [B, T, `get_output_dim()`]: the encoder's output, then ELMo's if it is at the
    output.
    """

    x: Tensor
    """[B, T, `get_input_dim()`]: the embeddings, then ELMo's if it is at the input."""

    mask: Tensor
    """[B, T], bool."""


class InputEncoder(nn.Module):
    """
    Embeds and encodes the words of a task model, with ELMo where the config puts it:

        x = [embeddings; ELMo]
        h = [encoder(x); ELMo']

    Either ELMo vector is optional; both are mixes of the layers of one biLM pass
    (section 3.3, where x is `[x_k; ELMo_k]` and h is `[h_k; ELMo_k]`).

    # Parameters

    - `text_field_embedder`: embeds every key of the text field except `elmo`. Word ids
      (the key `tokens`) are ignored if it is null or has no embedder for them.
    - `encoder`: turns the input x into h. A config leaves out its input width, which is
      inferred: the width of the embeddings plus that of ELMo at the input.
    - `elmo`: adds ELMo. If null, the character ids under the key `elmo` are ignored.
    - `word_vectors`: if false, x leaves out the word vectors of `text_field_embedder`.
    - `elmo_output_encoder`: encodes the ELMo vectors at the output before they are
      appended. Ignored if `elmo` is null or has no vectors at the output.
    - `input_dropout`: dropout on x. ELMo vectors also have their own dropout.
    - `output_dropout`: dropout on the encoder's output, before ELMo is appended.
    - `variational_dropout`: if true, these two dropouts drop the same units at every
      token of a sentence; if false, each element independently.

    Raises `InputError` if nothing is left to embed, or an encoder's width is not that
    of its input.
    """

    @checked
    def __init__(
        self,
        text_field_embedder: Optional[TextFieldEmbedder],
        encoder: LazyEncoder,
        *,
        elmo: Optional[ElmoTokenEmbedder] = None,
        word_vectors: bool = True,
        elmo_output_encoder: Optional[LazyEncoder] = None,
        input_dropout: Probability = 0.0,
        output_dropout: Probability = 0.0,
        variational_dropout: bool = True,
    ) -> None:
        super().__init__()
        embedder = text_field_embedder
        if not word_vectors:
            embedder = without_words(text_field_embedder)
        self.embedder = embedder
        self.elmo = elmo
        self.encoder = construct(encoder, input_width(embedder, elmo))
        self.elmo_output_encoder: Seq2SeqEncoder | None = None
        if elmo_output_encoder is not None and elmo is not None and elmo.has_output:
            width = elmo.get_output_dim()
            self.elmo_output_encoder = construct(elmo_output_encoder, width)
        self._ignored = ignored_keys(embedder)
        dropout = InputVariationalDropout if variational_dropout else nn.Dropout
        self.input_dropout = dropout(input_dropout)
        self.output_dropout = dropout(output_dropout)
        self._evaluated_mix: dict[str, Tensor] | None = None

    def get_input_dim(self) -> int:
        """The width of x."""
        return self.encoder.get_input_dim()

    def get_output_dim(self) -> int:
        """The width of h."""
        width: int = self.encoder.get_output_dim()
        if self.elmo_output_encoder is not None:
            return width + self.elmo_output_encoder.get_output_dim()
        if self.elmo is not None and self.elmo.has_output:
            return width + self.elmo.get_output_dim()
        return width

    def describe(self) -> dict[str, float]:
        """
        ELMo's learned weights, as metrics. After an evaluation they are the weights
        used for its last batch: a trainer that evaluates a moving average has already
        restored the parameters when it reads the metrics.
        """
        if self.elmo is None:
            return {}
        weights = self._evaluated_mix
        self._evaluated_mix = None
        if weights is None or self.training:
            return self.elmo.describe()
        return {name: weight.item() for name, weight in weights.items()}

    def forward(self, tokens: TextFieldTensors) -> InputEncoderOutput:
        """
        Encode the tensors of a text field, by its keys. Raises `InputError` if there
        are no character ids for ELMo.
        """
        mask = get_text_field_mask(tokens)  # [B, T]
        layers = self._layers(tokens)
        x = self._input(tokens, layers)  # [B, T, D]
        h = self.output_dropout(self.encoder(x, mask))  # [B, T, D]
        if self.elmo is not None and layers is not None and self.elmo.has_output:
            appended = self.elmo.output_vectors(layers)
            if self.elmo_output_encoder is not None:
                appended = self.elmo_output_encoder(appended, mask)
            h = torch.cat([h, appended], -1)
        if self.elmo is not None and not self.training:
            self._evaluated_mix = self.elmo.mix_parameters()
        return InputEncoderOutput(h, x, mask)

    def _layers(self, tokens: TextFieldTensors) -> LayerOutput | None:
        if self.elmo is None:
            return None
        if CHARACTERS not in tokens:
            found = ", ".join(sorted(tokens))
            problem = (
                f"expected the key {CHARACTERS} for ELMo in the text field, got {found}"
            )
            hint = f"give the reader a token indexer elmo_tasks_characters under the key {CHARACTERS}"
            raise InputError(problem, hint=hint)
        (ids,) = tokens[CHARACTERS].values()  # [B, T, C]
        return self.elmo.layers(ids)

    def _input(self, tokens: TextFieldTensors, layers: LayerOutput | None) -> Tensor:
        parts = []
        if self.embedder is not None:
            parts.append(self.embedder(self._embedded(tokens)))
        if self.elmo is not None and layers is not None and self.elmo.has_input:
            parts.append(self.elmo.input_vectors(layers))
        return self.input_dropout(torch.cat(parts, -1))  # [B, T, D]

    def _embedded(self, tokens: TextFieldTensors) -> TextFieldTensors:
        """The keys that the embedder reads."""
        kept: TextFieldTensors = {}
        for key, tensors in tokens.items():
            if key not in self._ignored:
                kept[key] = tensors
        return kept


def ignored_keys(embedder: TextFieldEmbedder | None) -> set[str]:
    """The keys of a text field that the embedder does not read."""
    ignored = {CHARACTERS}
    if isinstance(embedder, BasicTextFieldEmbedder):
        ignored |= {WORDS} - embedder._token_embedders.keys()
    return ignored


def without_words(embedder: TextFieldEmbedder | None) -> TextFieldEmbedder | None:
    """The embedder without word vectors; `None` if it has nothing else."""
    if not isinstance(embedder, BasicTextFieldEmbedder):
        found = type(embedder).__name__
        problem = f"word_vectors can be false only for the type 'basic', got {found}"
        raise InputError(problem)
    kept = dict(embedder._token_embedders)
    kept.pop(WORDS, None)
    if not kept:
        return None
    return BasicTextFieldEmbedder(kept)


def input_width(
    embedder: TextFieldEmbedder | None, elmo: ElmoTokenEmbedder | None
) -> int:
    """The width of x, of the embeddings and ELMo at the input."""
    width = 0
    if embedder is not None:
        width += embedder.get_output_dim()
    if elmo is not None and elmo.has_input:
        width += elmo.get_output_dim()
    return width


def construct(encoder: LazyEncoder, width: int) -> Seq2SeqEncoder:
    """
    The encoder for vectors of this width. An encoder from a config is constructed with
    it as `input_size` or `input_dim`, as AllenNLP's encoders call it. Raises
    `InputError` if the width is 0, or the encoder has another one.
    """
    if width == 0:
        raise InputError(NOTHING_LEFT)
    if isinstance(encoder, Lazy):
        encoder = encoder.construct(input_size=width, input_dim=width)
    found = encoder.get_input_dim()
    if found != width:
        problem = f"expected an encoder for vectors of width {width}, got {found}"
        hint = "leave input_size and input_dim out of a config: they are inferred"
        raise InputError(problem, hint=hint)
    return encoder
