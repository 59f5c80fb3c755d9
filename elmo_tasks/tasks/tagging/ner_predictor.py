"""Raw text or tokens -> entities with offsets."""

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.tasks.tagger_predictor import TaggerPredictor


@Predictor.register("elmo_tasks_ner")
class NerPredictor(TaggerPredictor):
    """As `TaggerPredictor`, always with `entities` and without `offsets`."""

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        result = super().result(instance, outputs)
        result.pop("offsets", None)
        return result
