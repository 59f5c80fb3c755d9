"""SRL predictor: raw text or tokens -> a frame for each predicate."""

from collections.abc import Callable, Sequence
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.spans import spans_from_tags
from elmo_tasks.tasks.predictor import EXPECTED, Sentence, SentencePredictor, metadata_of
from elmo_tasks.tasks.srl.reader import PREDICATES

MAX_TOKENS = 8192
"""The largest number of words in a batch, counted once per frame."""


@Predictor.register("elmo_tasks_srl")
class SrlPredictor(SentencePredictor):
    """
    Input: `{"sentence": "raw text"}` or `{"tokens": [...]}`, and optionally `"predicates": [...]`, the indices of the
    predicates among the tokens. Output:

    - `tokens`, T words;
    - `frames`, one for each predicate in their order, each with `predicate` (its index), `verb` (its word), `tags` (T
      tags in BIO) and `arguments`: `label`, `text`, `token_start`, `token_end`, and, for raw text, `start` and `end`.
      Ends are exclusive. `C-ARG1` continues the argument `ARG1` before it.

    Without `predicates`, every word that is a predicate somewhere in the training data counts as one, ignoring case.
    This look-up takes the noun `plan` for the verb, and misses verbs that are not in the training data.
    """

    keys = (*SentencePredictor.keys, "predicates")
    expected = f'{EXPECTED}, and "predicates": [1, 4] if they are known'
    gold_fields = ("tags",)

    def outputs(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """The frames of several inputs. Raises `InputError` if a predicate is not one of the tokens."""
        sentences = [self.read(one) for one in inputs]
        predicates = [self._predicates(*pair) for pair in zip(sentences, inputs, strict=True)]
        pairs = list(zip(sentences, predicates, strict=True))
        frames = [(sentence.words, place) for sentence, places in pairs for place in places]
        to_instance = self._dataset_reader.text_to_instance
        tags = iter(self._tags([len(words) for words, _ in frames], lambda n: to_instance(*frames[n])))
        return [_result(sentence, [(place, next(tags)) for place in places]) for sentence, places in pairs]

    def predict_instance(self, instance: Instance) -> JsonDict:
        """The frame of an instance from the reader."""
        return self.predict_batch_instance([instance])[0]

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The frames of instances from the reader, one each, in order."""
        known = [metadata_of(instance) for instance in instances]
        tags = self._tags([len(one["words"]) for one in known], lambda n: self.without_gold(instances[n]))
        return [
            _result(Sentence(one["words"]), [(one["predicate"], found)]) for one, found in zip(known, tags, strict=True)
        ]

    def _predicates(self, sentence: Sentence, json_dict: JsonDict) -> list[int]:
        if "predicates" in json_dict:
            return _checked_predicates(json_dict["predicates"], sentence.words)
        known = self._model.vocab.get_token_to_index_vocabulary(PREDICATES)
        return [place for place, word in enumerate(sentence.words) if word.lower() in known]

    def _tags(self, lengths: Sequence[int], instance_of: Callable[[int], Instance]) -> list[list[str]]:
        """The tags of numbered instances, in batches of limited size: a line may have any number of frames."""
        tags: dict[int, list[str]] = {}
        for places in batches_by_length(lengths, max_tokens=MAX_TOKENS):
            batch = [instance_of(place) for place in places]
            for instance in batch:
                self._dataset_reader.apply_token_indexers(instance)
            outputs = self._model.forward_on_instances(batch)
            tags.update((place, output["tags"]) for place, output in zip(places, outputs, strict=True))
        return [tags[place] for place in range(len(lengths))]


def _checked_predicates(predicates: Any, words: Sequence[str]) -> list[int]:
    if not isinstance(predicates, list) or any(type(place) is not int for place in predicates):
        raise InputError(f"expected a list of integers under 'predicates', got {shown(predicates)}")
    if outside := [place for place in predicates if not 0 <= place < len(words)]:
        raise InputError(f"expected 'predicates' from 0 to {len(words) - 1}, got {outside[0]}")
    if len(set(predicates)) != len(predicates):
        raise InputError(f"expected distinct 'predicates', got {shown(predicates)}")
    return sorted(predicates)


def _result(sentence: Sentence, frames: Sequence[tuple[int, list[str]]]) -> JsonDict:
    """The output for a sentence, from its predicates and their tags."""
    return {"tokens": sentence.words, "frames": [_frame(sentence, *frame) for frame in frames]}


def _frame(sentence: Sentence, predicate: int, tags: list[str]) -> JsonDict:
    arguments = [
        {"label": label, **sentence.located(start, end), "token_start": start, "token_end": end}
        for start, end, label in spans_from_tags(tags)
    ]
    return {"predicate": predicate, "verb": sentence.words[predicate], "tags": tags, "arguments": arguments}
