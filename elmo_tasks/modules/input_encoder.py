"""The lowest layers of every task model: tokens -> x -> h; the one place where ELMo enters a model (section 3.3)."""

from typing import NamedTuple

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors
from allennlp.modules import InputVariationalDropout, TextFieldEmbedder
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLMOutput
from elmo_tasks.data.vectors import WordVectors
from elmo_tasks.data.words import SPELLING
from elmo_tasks.elmo.embedder import ElmoTokenEmbedder
from elmo_tasks.errors import InputError

WORDS, CHARACTERS = "tokens", "elmo"
"""The text field's keys for the word ids and for the biLM's character ids."""

NOTHING_LEFT = "nothing is left to embed: no word vectors, no characters, no ELMo at the input"


class InputEncoderOutput(NamedTuple):
    """Vectors of B sentences of T tokens."""

    h: Tensor  # [B, T, `get_output_dim()`], the encoder's output, followed by ELMo's if it is at the output
    x: Tensor  # [B, T, `get_input_dim()`], its input: the embeddings, followed by ELMo's if it is at the input
    mask: Tensor  # [B, T], bool


class InputEncoder(nn.Module):
    """
    `x = [embeddings; ELMo]`, `h = [encoder(x); ELMo']`. Either ELMo vector is optional; both are mixes of the layers of
    one biLM pass. All widths follow from the parts.

    # Parameters

    - `text_field_embedder`: embeds the words, under the key `tokens`, and all other keys but `elmo`.
    - `encoder`: constructed here, with the width of x.
    - `elmo`: if not given, the character ids under the key `elmo` are ignored.
    - `word_vectors`: whether x contains word vectors.
    - `input_dropout`, `output_dropout`: dropout on x, and on the encoder's output before ELMo is appended. ELMo's
      vectors have their own dropout, too.
    - `variational_dropout`: whether these two drop the same units at all tokens of a sentence, or each element
      independently.
    - `elmo_output_encoder`: reads ELMo's vectors at the output, and its output is appended in their place. Ignored if
      there are none.

    Raises `InputError` if nothing is left to embed, or the encoder is configured with a width other than that of x.
    """

    def __init__(
        self,
        *,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[Seq2SeqEncoder],
        elmo: ElmoTokenEmbedder | None = None,
        word_vectors: bool = True,
        input_dropout: float = 0.0,
        output_dropout: float = 0.0,
        variational_dropout: bool = True,
        elmo_output_encoder: Lazy[Seq2SeqEncoder] | None = None,
    ) -> None:
        super().__init__()
        self.embedder = text_field_embedder if word_vectors else without_words(text_field_embedder)
        self.elmo = elmo
        self._ignored = {CHARACTERS} if word_vectors else {CHARACTERS, WORDS}
        self._looks_up = any(isinstance(part, WordVectors) for part in self.modules())
        self.encoder = construct(encoder, width=self.get_input_dim())
        dropout = InputVariationalDropout if variational_dropout else nn.Dropout
        self.input_dropout, self.output_dropout = dropout(input_dropout), dropout(output_dropout)
        self.elmo_output_encoder = None
        if elmo_output_encoder is not None and elmo is not None and elmo.has_output:
            self.elmo_output_encoder = construct(elmo_output_encoder, width=elmo.get_output_dim())

    def get_input_dim(self) -> int:
        """Width of x."""
        embedded = 0 if self.embedder is None else self.embedder.get_output_dim()
        return embedded + (self.elmo.get_output_dim() if self.elmo is not None and self.elmo.has_input else 0)

    def get_output_dim(self) -> int:
        """Width of h."""
        appended: Seq2SeqEncoder | ElmoTokenEmbedder | None = self.elmo_output_encoder
        if appended is None and self.elmo is not None and self.elmo.has_output:
            appended = self.elmo
        return self.encoder.get_output_dim() + (0 if appended is None else appended.get_output_dim())

    def penalty(self) -> Tensor:
        """ELMo's L2 penalty, a scalar; 0 without ELMo."""
        return torch.zeros(()) if self.elmo is None else self.elmo.penalty()

    def describe(self) -> dict[str, float]:
        """ELMo's learned weights, as metrics; empty without ELMo."""
        return {} if self.elmo is None else self.elmo.describe()

    def forward(self, tokens: TextFieldTensors) -> InputEncoderOutput:
        """Encodes a text field of B sentences of T tokens."""
        mask = get_text_field_mask(tokens)  # [B, T]
        layers = self._layers(tokens)
        x = self._input(tokens, layers)  # [B, T, D]
        h = self.output_dropout(self.encoder(x, mask))  # [B, T, D]
        if self.elmo is not None and layers is not None and self.elmo.has_output:
            appended = self.elmo.output_vectors(layers)
            if self.elmo_output_encoder is not None:
                appended = self.elmo_output_encoder(appended, mask)
            h = torch.cat([h, appended], -1)
        return InputEncoderOutput(h, x, mask)

    def _layers(self, tokens: TextFieldTensors) -> BiLMOutput | None:
        if self.elmo is None:
            return None
        if CHARACTERS not in tokens:
            found = ", ".join(sorted(tokens))
            hint = f"give the reader a token indexer elmo_tasks_characters under the key {CHARACTERS}"
            raise InputError(f"expected the key {CHARACTERS} for ELMo in the text field, got {found}", hint=hint)
        (ids,) = tokens[CHARACTERS].values()  # [B, T, C]
        return self.elmo.layers(ids)

    def _input(self, tokens: TextFieldTensors, layers: BiLMOutput | None) -> Tensor:
        parts = []
        if self.embedder is not None:
            kept = {key: tokens[key] for key in tokens if key not in self._ignored}
            if not self._looks_up:
                kept = {key: {name: part for name, part in kept[key].items() if name != SPELLING} for key in kept}
            parts.append(self.embedder(kept))
        if self.elmo is not None and layers is not None and self.elmo.has_input:
            parts.append(self.elmo.input_vectors(layers))
        return self.input_dropout(torch.cat(parts, -1))  # [B, T, D]


def without_words(embedder: TextFieldEmbedder) -> TextFieldEmbedder | None:
    """The embedder without word vectors; `None` if it has nothing else."""
    if not isinstance(embedder, BasicTextFieldEmbedder):
        raise InputError(f"word_vectors can be false only for the type 'basic', got {type(embedder).__name__}")
    kept = {key: part for key, part in embedder._token_embedders.items() if key != WORDS}
    return BasicTextFieldEmbedder(kept) if kept else None


def construct(encoder: Lazy[Seq2SeqEncoder], *, width: int) -> Seq2SeqEncoder:
    """
    The encoder for vectors of this width, which AllenNLP's encoders call `input_size` or `input_dim`. Raises
    `InputError` if the width is 0, or the configuration sets another one.
    """
    if width == 0:
        raise InputError(NOTHING_LEFT)
    built = encoder.construct(input_size=width, input_dim=width)
    if built.get_input_dim() != width:
        raise InputError(
            f"expected an encoder for embeddings of width {width}, got {built.get_input_dim()}",
            hint="remove input_size (or input_dim) from the encoder: it is inferred",
        )
    return built
