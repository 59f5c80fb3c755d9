"""
Base class of the six task models: the input encoder and the config keys that they share
(section 3.3).
"""

from abc import abstractmethod
from typing import Any, ClassVar, Optional

from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.nn import InitializerApplicator
from overrides import overrides
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import checked
from elmo_tasks.training.parts import Inlined, Inlining, construct_inlined
from elmo_tasks.training.vocabulary import label_counts, require_no_new_labels


class TaskModel(Inlining, Model):
    """
    An AllenNLP model on top of an `InputEncoder`. In a config, the keys of the input
    encoder are keys of the model. Subclasses pass arguments that they do not use
    themselves to this class as `**kwargs`; see AllenNLP's `Model`.

    # Parameters

    - `regularizer`: penalties on parameters, added to the loss; see AllenNLP's
      `RegularizerApplicator`.
    - `initializer`: initial values of parameters that match a regular expression; see
      AllenNLP's `InitializerApplicator`.
    """

    inlined: ClassVar[Inlined] = {"input_encoder": InputEncoder}
    """The arguments whose keys stand among the model's own, see `training.parts`."""

    default_evaluator: ClassVar[str | None] = None
    """
    The registered name of the evaluator that writes its predictions, if the config
    names none.
    """

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        initializer: Optional[InitializerApplicator] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.input_encoder = input_encoder
        self._label_counts = label_counts(vocab)
        self._initializer = initializer

    @classmethod
    @overrides
    def from_params(
        cls, params: Params, *constructors: Any, **extras: Any
    ) -> "TaskModel":
        """Construct the model from a config, its input encoder first."""
        shared = {}
        for name, value in extras.items():
            if not name.startswith("constructor_to_"):
                shared[name] = value
        parts = construct_inlined(cls.inlined, params, shared)
        model = super().from_params(params, *constructors, **parts, **extras)
        if model._initializer is not None:
            model._initializer(model)
        return model

    @overrides
    def get_regularization_penalty(self) -> Tensor | None:
        """
        The penalties of the `regularizer` and on the weights of ELMo's layers (section
        3.3), which the trainer adds to the loss and reports as `reg_loss`; `None`
        without both.
        """
        configured = super().get_regularization_penalty()
        elmo = self.input_encoder.elmo
        if elmo is None or not elmo.settings.l2:
            return configured
        if configured is None:
            return elmo.penalty()
        return elmo.penalty() + configured

    @overrides
    def extend_embedder_vocab(
        self, embedding_sources_mapping: Optional[dict[str, str]] = None
    ) -> None:
        """
        Adds the vectors of words and characters that have been added to the vocabulary.
        Raises `InputError` if labels have been added, which the model cannot predict.
        """
        require_no_new_labels(self.vocab, self._label_counts)
        super().extend_embedder_vocab(embedding_sources_mapping)

    def require_gold(self, gold: object) -> None:
        """
        Raises `InputError` during training, if there are no gold answers (`None`).
        """
        if self.training and gold is None:
            raise InputError("training needs gold answers, and the data have none")


class SoftmaxModel(TaskModel):
    """
    A task model whose scores a softmax turns into probabilities, so that several models
    can form an ensemble. It splits `forward` into `score` and `answer`; an ensemble
    calls `answer` of one model with the combined scores of all. Both accept the fields
    of a batch as keyword arguments.
    """

    @abstractmethod
    def score(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """
        Scores [..., K] for the softmax over the last axis, under names that end in
        `logits`; other names are outputs that are not combined.
        """

    @abstractmethod
    def answer(
        self, scores: dict[str, Tensor], *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        """The outputs of `forward`, from what `score` returns; updates the metric."""
