"""What the six task models have in common: the lowest layers, and the keys that configure them (section 3.3)."""

from typing import Any

from allennlp.common import Lazy
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.nn import RegularizerApplicator
from allennlp.nn.parallel import DdpAccelerator
from torch import Tensor

from elmo_tasks.elmo.embedder import ElmoTokenEmbedder
from elmo_tasks.errors import InputError
from elmo_tasks.modules.input_encoder import InputEncoder
from elmo_tasks.ranges import require_dropouts


class TaskModel(Model):
    """
    An AllenNLP model on top of `InputEncoder`. A task model hands on, as `**kwargs`, the keys that are not its own:
    AllenNLP finds them here.

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder, encoder, elmo, word_vectors, input_dropout, output_dropout
        See `InputEncoder`.
    regularizer, serialization_dir, ddp_accelerator
        AllenNLP's.

    # Raises

    `InputError`
        If a key is left over, or a dropout is none.
    """

    _version = 1
    """Of what a trained model's state holds; torch writes it with the weights. Older ones must go on loading."""

    def __init__(
        self,
        vocab: Vocabulary,
        *,
        text_field_embedder: TextFieldEmbedder,
        encoder: Lazy[Seq2SeqEncoder],
        elmo: ElmoTokenEmbedder | None = None,
        word_vectors: bool = True,
        input_dropout: float = 0.0,
        output_dropout: float = 0.0,
        regularizer: RegularizerApplicator | None = None,
        serialization_dir: str | None = None,
        ddp_accelerator: DdpAccelerator | None = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            raise InputError(f"{type(self).__name__} has no key {', '.join(sorted(unknown))}", hint="is it misspelt?")
        require_dropouts(input_dropout=input_dropout, output_dropout=output_dropout)
        super().__init__(vocab, regularizer, serialization_dir, ddp_accelerator)
        self.lowest_layers = InputEncoder(
            text_field_embedder=text_field_embedder,
            encoder=encoder,
            elmo=elmo,
            word_vectors=word_vectors,
            input_dropout=input_dropout,
            output_dropout=output_dropout,
        )

    def require_gold(self, gold: object) -> None:
        """
        # Raises

        `InputError`
            If there are no gold answers, `None`, while training.
        """
        if self.training and gold is None:
            raise InputError("training needs gold answers, and the data have none")

    def require_finite(self, *scores: Tensor) -> None:
        """
        # Raises

        `InputError`
            If some of the scores that a prediction is made from are NaN or infinite.
        """
        if not all(tensor.isfinite().all() for tensor in scores):
            raise InputError(
                "the model gives no finite numbers: expected finite scores, got NaN or infinity",
                hint="train it with a lower learning rate, or compute in float32 where float16 overflows",
            )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """Raises `InputError` where a newer elmo_tasks wrote the weights."""
        if (found := local_metadata.get("version", 1)) > self._version:
            raise InputError(
                f"the model is of version {found} of its format, and {self._version} is the newest that is known here",
                hint="load it with a newer elmo_tasks",
            )
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)
