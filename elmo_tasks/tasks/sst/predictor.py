"""SST predictor: raw text or tokens -> a distribution over the labels."""

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_tasks.formats.annotation.trees import NAMES
from elmo_tasks.tasks.inputs import Output, Probability, SentenceInput, Words
from elmo_tasks.tasks.predictor import SentencePredictor


class SstInput(SentenceInput):
    """A sentence."""


class SstOutput(Output):
    """How much the writer likes it."""

    tokens: Words
    label: str
    probabilities: dict[str, Probability]


@Predictor.register("elmo_tasks_sst")
class SstPredictor(SentencePredictor):
    """
    Input: `{"sentence": "raw text"}` or `{"tokens": [...]}`. Output:

    - `tokens`, T words;
    - `label`, the most probable one: `very negative`, `negative`, `neutral`, `positive`
      or `very positive`;
    - `probabilities`, by these names, from the most negative to the most positive.

    Tokens should follow the Penn Treebank; raw text is tokenized by nearly the same
    rules.
    """

    takes = SstInput
    returns = SstOutput
    gold_fields = ("label",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        by_label = outputs["probabilities"]
        probabilities = {name: by_label[label] for label, name in NAMES.items()}
        return {
            "tokens": outputs["words"],
            "label": NAMES[outputs["label"]],
            "probabilities": probabilities,
        }

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(self.read(json_dict).words)
