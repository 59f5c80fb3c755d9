"""The lowest layers of every task model: tokens -> x -> h; the one place where ELMo meets a model (section 3.3)."""

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
from elmo_tasks.elmo.embedder import ElmoTokenEmbedder
from elmo_tasks.errors import InputError

WORDS, CHARACTERS = "tokens", "elmo"
"""The text field's keys of the word ids, and of the character ids that the biLM reads."""


NOTHING_LEFT = "nothing is left to embed: no word vectors, no characters, no ELMo at the input"


class InputEncoderOutput(NamedTuple):
    """
    # Parameters

    h : `Tensor`, shape [B, T, `get_output_dim()`]
        The encoder's output, followed by ELMo's where it is wanted there.
    x : `Tensor`, shape [B, T, `get_input_dim()`]
        What the encoder read: the token embeddings, followed by ELMo's where it is wanted there.
    mask : `Tensor`, bool, shape [B, T]
    """

    h: Tensor
    x: Tensor
    mask: Tensor


class InputEncoder(nn.Module):
    """
    `x = [embeddings; ELMo]`, `h = [encoder(x); ELMo']`, either ELMo only where the configuration wants it; both are
    mixes of the layers of one biLM pass. A task model hands its keys over and need not know more: all widths follow
    from the parts.

    # Parameters

    text_field_embedder : `TextFieldEmbedder`
        Words under the key `tokens`, and whatever else the reader indexes but `elmo`.
    encoder : `Lazy[Seq2SeqEncoder]`
        Constructed here, with the width of x.
    elmo : `ElmoTokenEmbedder`, optional
        Without it the character ids under the key `elmo` are passed over.
    word_vectors : `bool`
        Whether x has word vectors.
    input_dropout, output_dropout : `float`
        Variational dropout on x, and on the encoder's output before ELMo is appended to it. ELMo's vectors have a
        dropout of their own besides.

    # Raises

    `InputError`
        If nothing is left to embed, or the encoder was given another width than that of x.
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
    ) -> None:
        super().__init__()
        text_field_embedder.to(torch.get_default_dtype())  # AllenNLP's embeddings are float32 whatever it is
        self.embedder = text_field_embedder if word_vectors else without_words(text_field_embedder)
        self.elmo = elmo
        self._ignored = {CHARACTERS} if word_vectors else {CHARACTERS, WORDS}
        self.encoder = construct(encoder, width=self.get_input_dim())
        self.input_dropout = InputVariationalDropout(input_dropout)
        self.output_dropout = InputVariationalDropout(output_dropout)

    @property
    def uses_elmo(self) -> bool:
        """What a task's ELMo configuration brings along besides the vectors is switched by this."""
        return self.elmo is not None

    def get_input_dim(self) -> int:
        """Width of x."""
        embedded = 0 if self.embedder is None else self.embedder.get_output_dim()
        return embedded + (self.elmo.get_output_dim() if self.elmo is not None and self.elmo.has_input else 0)

    def get_output_dim(self) -> int:
        """Width of h."""
        appended = self.elmo.get_output_dim() if self.elmo is not None and self.elmo.has_output else 0
        return self.encoder.get_output_dim() + appended

    def penalty(self) -> Tensor:
        """What ELMo's `l2` adds to the loss, a scalar; 0 without ELMo."""
        return torch.zeros(()) if self.elmo is None else self.elmo.penalty()

    def describe(self) -> dict[str, float]:
        """What ELMo has learned so far, as metrics; nothing without ELMo."""
        return {} if self.elmo is None else self.elmo.describe()

    def forward(self, tokens: TextFieldTensors) -> InputEncoderOutput:
        """
        # Parameters

        tokens : `TextFieldTensors`
            A text field of B sentences of T tokens.
        """
        mask = get_text_field_mask(tokens)  # [B, T]
        layers = self._layers(tokens)
        x = self._input(tokens, layers)  # [B, T, D]
        h = self._output(self.encoder(x, mask), layers)  # [B, T, D]
        return InputEncoderOutput(h, x, mask)

    def _layers(self, tokens: TextFieldTensors) -> BiLMOutput | None:
        if self.elmo is None:
            return None
        if CHARACTERS not in tokens:
            found = ", ".join(sorted(tokens))
            hint = f"give the reader a token indexer elmo_tasks_characters under the key {CHARACTERS}"
            raise InputError(f"ELMo needs the key {CHARACTERS} in the text field, found {found}", hint=hint)
        (ids,) = tokens[CHARACTERS].values()  # [B, T, C]
        return self.elmo.layers(ids)

    def _input(self, tokens: TextFieldTensors, layers: BiLMOutput | None) -> Tensor:
        parts = []
        if self.embedder is not None:
            parts.append(self.embedder({key: tokens[key] for key in tokens if key not in self._ignored}))
        if self.elmo is not None and layers is not None and self.elmo.has_input:
            parts.append(self.elmo.input_vectors(layers))
        return self.input_dropout(torch.cat(parts, -1))  # [B, T, D]

    def _output(self, encoded: Tensor, layers: BiLMOutput | None) -> Tensor:
        encoded = self.output_dropout(encoded)
        if self.elmo is None or layers is None or not self.elmo.has_output:
            return encoded
        return torch.cat([encoded, self.elmo.output_vectors(layers)], -1)  # [B, T, D]


def without_words(embedder: TextFieldEmbedder) -> TextFieldEmbedder | None:
    """The same embedder without word vectors; `None` if that was all it had."""
    if not isinstance(embedder, BasicTextFieldEmbedder):
        raise InputError(f"word_vectors can be false for the type 'basic' only, not for {type(embedder).__name__}")
    kept = {key: part for key, part in embedder._token_embedders.items() if key != WORDS}
    return BasicTextFieldEmbedder(kept) if kept else None


def construct(encoder: Lazy[Seq2SeqEncoder], *, width: int) -> Seq2SeqEncoder:
    """
    The encoder for vectors of this width. AllenNLP's encoders name it `input_size` or `input_dim`; each takes its own.

    # Raises

    `InputError`
        If the width is 0, or the configuration has set another one by hand.
    """
    if width == 0:
        raise InputError(NOTHING_LEFT)
    built = encoder.construct(input_size=width, input_dim=width)
    if built.get_input_dim() != width:
        raise InputError(
            f"the encoder was given the width {built.get_input_dim()}, the embeddings have {width} in all",
            hint="leave the encoder's input_size (or input_dim) out: it is inferred",
        )
    return built
