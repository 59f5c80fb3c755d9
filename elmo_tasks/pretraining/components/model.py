"""
The bidirectional language model as an AllenNLP model: loss, carried states, perplexity
(paper, section 3.1).
"""

import logging
from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_tasks.bilm.bilm import BiLM, States
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import Precision
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.export import fill_softmax, load_start
from elmo_tasks.pretraining.language_model import BiLanguageModel, LmOutput
from elmo_tasks.pretraining.scores.perplexity import Perplexity
from elmo_tasks.pretraining.softmax import Negatives, OutputSoftmax
from elmo_tasks.pretraining.text.stream import LmBatch
from elmo_tasks.settings import PathLike, Positive, Probability, checked
from elmo_tasks.training.config import mapped
from elmo_tasks.training.distributed import process_count

logger = logging.getLogger(__name__)


class PerplexityMetric(Perplexity, Metric):
    """`Perplexity` as a metric of AllenNLP; checkpoints contain its counts."""


@Model.register("elmo_tasks_tuned_bilm", constructor="tuned")
@Model.register("elmo_tasks_bilm")
class BiLMModel(Model):
    """
    A bidirectional language model: `BiLanguageModel` for AllenNLP's trainer.

    Each batch starts from the final states of the batch before it, and the first batch
    of a text from zeros. Training and evaluation have separate states. The trainer
    `elmo_tasks` saves those of the training in its checkpoints.

    Metrics: `perplexity` (geometric mean of the directions), `forward_perplexity`,
    `backward_perplexity` and `unknown`, the share of `<UNK>` among the targets. They
    are averages over tokens. In evaluation they come from the exact softmax; in
    training they come from the training loss, so with `negatives` they are not
    comparable.

    In distributed training, each process has a share of the batch's rows and states.
    Losses are divided by the number of tokens of the whole batch, and metrics count the
    whole batch, so without dropout and resets the result is the same as with one
    process.

    # Parameters

    - `options`: the architecture, in the structure of an official `options.json`.
    - `negatives`: number of negative samples of the sampled softmax; null: the full
      softmax.
    - `dropout`: dropout on the input of each LSTM layer and before the softmax.
    - `precision`: data type of the matrix products in training.
    - `loss_scale`: factor of the loss. The code of bilm-tf multiplies by the number of
      unrolled steps, 20, which matters to gradient clipping and Adagrad.
    - `reset_probability`: probability with which a row of a training batch starts from
      zero states, as each sentence does that ELMo reads. The paper's 0 suits a large
      text; a biLM of a small text may come to depend on the states that it carries.

    Raises `InputError` if an option is impossible or the vocabulary is not
    `elmo_tasks_words`.
    """

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        options: dict[str, Any],
        negatives: Negatives = None,
        dropout: Probability = 0.1,
        precision: Precision = "float32",
        loss_scale: Positive = 1.0,
        reset_probability: Probability = 0.0,
    ) -> None:
        super().__init__(vocab)
        if not isinstance(vocab, LmVocabulary):
            raise InputError(
                "model elmo_tasks_bilm: expected the vocabulary elmo_tasks_words, "
                f"got {type(vocab).__name__}"
            )
        prefix = "model.options: "
        bilm = BiLM(BiLMOptions.from_dict(options, prefix=prefix))
        softmax = OutputSoftmax(
            len(vocab.to_words()), bilm.options.projection_dim, negatives=negatives
        )
        self.language_model = BiLanguageModel(
            bilm, softmax, dropout=dropout, precision=precision
        )
        self.loss_scale = loss_scale
        self.reset_probability = reset_probability
        self.knows_words = False
        """Whether the softmax starts from a trained one, so that it can be measured."""
        self.tuned_from: ModelFiles | None = None
        """The biLM from which this one is tuned."""
        self._perplexity = PerplexityMetric()
        self._training_states: States = {}
        self._evaluation_states: States = {}

    @classmethod
    @checked
    def tuned(
        cls,
        vocab: Vocabulary,
        bilm: PathLike,
        negatives: Negatives = None,
        dropout: Probability = 0.1,
        precision: Precision = "float32",
        loss_scale: Positive = 1.0,
        reset_probability: Probability = 0.0,
    ) -> "BiLMModel":
        """
        Fine-tune a biLM on the text of a task (paper, appendix A.1). Words that are in
        both vocabularies keep their weights in the softmax.

        # Parameters

        - `bilm`: what to start from: the folder of a run, an exported folder, or any
          name of a biLM that `model.elmo.model` takes. Without a softmax, a new one is
          trained.
        - The others: as for `elmo_tasks_bilm`.
        """
        found, trained, files = load_start(bilm)
        model = cls(
            vocab,
            found.options.to_dict(),
            negatives,
            dropout,
            precision,
            loss_scale,
            reset_probability,
        )
        model.tuned_from = files
        model.language_model.bilm.ancestry = files.ancestry
        model.language_model.bilm.load_state_dict(found.state_dict())
        model.knows_words = fill_softmax(
            model.language_model.softmax, vocab.to_words(), trained
        )
        return model

    @overrides(check_signature=False)  # AllenNLP's forward takes any inputs
    def forward(self, batch: LmBatch) -> dict[str, Any]:
        """
        Returns `loss` (scaled), `nll` (nats per token, mean of the directions) and
        `tokens` (targets of the forward direction). The last two are those of the whole
        batch, as is the mean of `loss` over processes.
        """
        output = self.language_model(batch, self._states_for(batch))
        if self.training:
            self._training_states = output.states
        else:
            self._evaluation_states = output.states
        total, unknown = _summed(output, batch.unknown)
        self._perplexity(total, unknown)
        if batch.begins and unknown > total.counts.sum() / 2:
            logger.warning(
                "more than half of the first words of the text are <UNK>: "
                "is the vocabulary of another text?"
            )
        counts = output.counts
        if process_count() > 1:
            counts = total.counts.to(counts.device)
        # DDP takes the mean of the processes' gradients, which are to be summed.
        loss = output._replace(counts=counts).loss * process_count() * self.loss_scale
        return {
            "loss": loss,
            "nll": total.loss,
            "tokens": int(total.counts[0]),
        }

    def _states_for(self, batch: LmBatch) -> States:
        """
        The states that a batch starts from, on the model's device; `{}` for zeros.
        """
        if batch.begins:
            return {}
        device = self.language_model.softmax.bias.device
        if not self.training:
            return _moved(self._evaluation_states, device)
        states = _moved(self._training_states, device)
        if self.reset_probability == 0:
            return states
        # Drawn on the CPU, so that the rows are the same on every device.
        drawn = torch.rand(batch.inputs.shape[2])  # [B]
        return _with_resets(states, (drawn >= self.reset_probability).to(device))

    def carried_states(self) -> States:
        """The states of the training, for a checkpoint."""
        return _moved(self._training_states, torch.device("cpu"))

    def set_carried_states(self, states: States) -> None:
        """Restore what `carried_states` returned; `{}` for zeros."""
        self._training_states = states

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return self._perplexity.get_metric(reset)


def _moved(states: States, device: torch.device) -> States:
    moved: States = mapped(states, lambda state: state.to(device))
    return moved


def _with_resets(states: States, kept: torch.Tensor) -> States:
    """`states` with zeros, in all layers of both directions, in rows not `kept` [B]."""
    factor = kept.unsqueeze(1)  # [B, 1]
    some_reset: States = mapped(states, lambda state: state * factor)
    return some_reset


def _summed(output: LmOutput, unknown: int) -> tuple[LmOutput, int]:
    """Negative log-likelihoods, detached, and counts over all processes, on the CPU."""
    # In one tensor: reading its values waits for the device once.
    own = torch.cat([output.nll.detach().double(), output.counts]).tolist()
    numbers = torch.tensor(own + [unknown], dtype=torch.float64)  # [5]
    if process_count() > 1:
        numbers = dist_reduce_sum(numbers).cpu()
    total = LmOutput(
        nll=numbers[:2].to(output.nll.dtype),
        counts=numbers[2:4].long(),
        states=output.states,
    )
    return total, int(numbers[4])
