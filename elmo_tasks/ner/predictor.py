"""Last step of NER: raw text or tokens in, entities with offsets out."""

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.data.spans import spans_from_tags
from elmo_tasks.prediction.json_input import metadata_of
from elmo_tasks.prediction.sentence_input import Sentence, SentencePredictor


@Predictor.register("elmo_tasks_ner")
class NerPredictor(SentencePredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and gives

    - `tokens`, T words, and `tags`, T tags in BIOUL;
    - `entities`, each with `text`, `type`, `token_start`, `token_end`, and, for raw text, `start`
      and `end`. Ends are not included: `sentence[start:end]` is `text`, and
      `tokens[token_start:token_end]` are its words.

    # Parameters

    model : `Model`
        Its output per instance holds `words` and `tags` (BIOUL strings), T each.
    dataset_reader : `DatasetReader`
        An `NerReader`.
    frozen, tokenizer
        See `SentencePredictor`.
    """

    gold_fields = ("tags",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """Reads the entities off the tags."""
        words, tags = outputs["words"], outputs["tags"]
        sentence: Sentence = metadata_of(instance).get("sentence") or Sentence(words)
        entities = [
            {**sentence.located(start, end), "type": label, "token_start": start, "token_end": end}
            for start, end, label in spans_from_tags(tags)
        ]
        return {"tokens": words, "tags": tags, "entities": entities}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises what `read` does."""
        sentence = self.read(json_dict)
        instance = self._dataset_reader.text_to_instance(sentence.words)
        metadata_of(instance)["sentence"] = sentence
        return instance
