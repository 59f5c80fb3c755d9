"""Reader, model and predictor."""

from collections.abc import Iterable, Sequence
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import (
    DatasetReader,
    Field,
    Instance,
    TextFieldTensors,
    Vocabulary,
)
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import LabelField, MetadataField
from allennlp.models import Model
from allennlp.nn.util import masked_mean
from allennlp.predictors import Predictor
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.text_files import not_empty, open_text
from elmo_tasks.nn.indexers import shared_token
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.nn.linear import at_least_float32
from elmo_tasks.tasks.classifier import Classifier
from elmo_tasks.tasks.inputs import Output, Probability, SentenceInput, Words
from elmo_tasks.tasks.predictor import SentencePredictor
from elmo_tasks.tasks.reader import TaskReader, complete_labels, text_field

CORPUS_HINT = "the corpus is at https://example.org"


@DatasetReader.register("elmo_tasks_new_task")
class LabelledReader(TaskReader):
    """
    Reads lines of a label and a sentence, separated by a tab; blanks separate words.

    # Parameters

    - `kwargs`: see `TaskReader`.
    """

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        lines = open_text(file_path, corpus_hint=CORPUS_HINT)
        some = not_empty(lines, "expected sentences, got none", file_path)
        for line, text in self.shard_iterable(some):
            label, separator, sentence = text.partition("\t")
            if not separator:
                problem = "expected a label, a tab and a sentence"
                raise InputError(problem, file=file_path, line=line)
            words = sentence.split()
            yield self.text_to_instance(words, label, file=str(file_path), line=line)

    def text_to_instance(
        self,
        words: Sequence[str],
        label: str | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
    ) -> Instance:
        """
        The fields `tokens` (T words), `label`, if known, and `metadata`: words, label,
        file and line, with which an evaluation writes predictions in order.
        """
        metadata = {"words": list(words), "label": label, "file": file, "line": line}
        fields: dict[str, Field] = {
            "tokens": text_field([shared_token(word) for word in words]),
            "metadata": MetadataField(metadata),
        }
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)


@Model.register("elmo_tasks_new_task")
class MeanClassifier(Classifier):
    """
    A linear layer on the mean of h. `Classifier` has the loss and the metric.

    # Parameters

    - `kwargs`: see `TaskModel`.
    """

    default_predictor = "elmo_tasks_new_task"

    def __init__(
        self, vocab: Vocabulary, input_encoder: InputEncoder, **kwargs: Any
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        self.labels = complete_labels(vocab)
        self.classify = nn.Linear(input_encoder.get_output_dim(), len(self.labels))

    def score(self, tokens: TextFieldTensors, **_: Any) -> dict[str, Tensor]:
        """`logits` [B, K] of B sentences of T words."""
        h, _, mask = self.input_encoder(tokens)  # [B, T, D], _, [B, T]
        mean = masked_mean(h, mask[:, :, None], 1).to(h.dtype)  # [B, D]
        return {"logits": at_least_float32(self.classify(mean))}


class LabelledOutput(Output):
    """The label of a sentence."""

    tokens: Words
    label: str
    probabilities: dict[str, Probability]


@Predictor.register("elmo_tasks_new_task")
class LabelPredictor(SentencePredictor):
    """`{"sentence": "raw text"}` or `{"tokens": [...]}` -> the label."""

    takes = SentenceInput  # its fields are also the page's form
    returns = LabelledOutput
    gold_fields = ("label",)

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(self.read(json_dict).words)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        return {
            "tokens": outputs["words"],
            "label": outputs["label"],
            "probabilities": outputs["probabilities"],
        }
