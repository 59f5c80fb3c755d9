"""Raw text or tokens -> entities with offsets."""

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.data.spans import spans_from_tags
from elmo_tasks.prediction.json_input import metadata_of
from elmo_tasks.prediction.sentence_input import Sentence, SentencePredictor


@Predictor.register("elmo_tasks_ner")
class NerPredictor(SentencePredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and returns

    - `tokens`, T words, and `tags`, T tags in BIOUL;
    - `entities`, each with `text`, `type`, `token_start`, `token_end`, and for raw text `start` and `end`. Ends are
      exclusive: `sentence[start:end]` is `text`.
    """

    gold_fields = ("tags",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        words, tags = outputs["words"], outputs["tags"]
        sentence: Sentence = metadata_of(instance).get("sentence") or Sentence(words)
        entities = [
            {**sentence.located(start, end), "type": label, "token_start": start, "token_end": end}
            for start, end, label in spans_from_tags(tags)
        ]
        return {"tokens": words, "tags": tags, "entities": entities}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        sentence = self.read(json_dict)
        instance = self._dataset_reader.text_to_instance(sentence.words)
        metadata_of(instance)["sentence"] = sentence
        return instance
