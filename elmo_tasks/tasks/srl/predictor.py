"""SRL predictor: raw text or tokens -> a frame for each predicate."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor
from pydantic import BaseModel, ConfigDict, Field

from elmo_tasks.bilm.packed_sequence import batches_by_length
from elmo_tasks.formats.annotation.spans import spans_from_tags
from elmo_tasks.tasks.inputs import Box, Output, SentenceInput, Span, Words
from elmo_tasks.tasks.predictor import SentencePredictor, TokenizedText, metadata_of
from elmo_tasks.tasks.srl.reader import PREDICATES

MAX_TOKENS = 8192
"""
The largest number of words in a batch, counted once per frame: a line may have any
number of frames.
"""


Index = Annotated[int, Field(ge=0)]
Indices = Annotated[
    list[Index],
    Field(
        description="Numbers of words; without them, words that were a predicate in"
        " the training data."
    ),
]


class SrlInput(SentenceInput):
    """A sentence, and which of its words are predicates."""

    predicates: Annotated[
        Indices, Box("Numbers of the predicates, from 0", 1, "numbers")
    ] = None  # type: ignore[assignment]


class Argument(Span):
    """A part of the sentence with a role."""

    label: str


class Frame(BaseModel):
    """A predicate and its arguments."""

    model_config = ConfigDict(extra="forbid")

    predicate: Index
    verb: str
    tags: list[str]
    arguments: list[Argument]


class SrlOutput(Output):
    """A frame for each predicate."""

    tokens: Words
    frames: list[Frame]


@Predictor.register("elmo_tasks_srl")
class SrlPredictor(SentencePredictor):
    """
    Input: `{"sentence": "raw text"}` or `{"tokens": [...]}`, and optionally
    `"predicates": [...]`, the indices of the predicates among the tokens. Output:

    - `tokens`, T words;
    - `frames`, one for each of the predicates as they are given, each with `predicate` (its
      index), `verb` (its word), `tags` (T tags in BIO) and `arguments`: `label`,
      `text`, `token_start`, `token_end`, and, for raw text, `start` and `end`. Ends are
      exclusive. `C-ARG1` continues the argument `ARG1` before it.

    Without `predicates`, every word that is a predicate somewhere in the training data
    counts as one, ignoring case. This look-up takes the noun `plan` for the verb, and
    misses verbs that are not in the training data.
    """

    takes = SrlInput
    returns = SrlOutput
    gold_fields = ("tags",)

    def sizes(self, json_dict: JsonDict) -> dict[str, int]:
        """
        `words`, and `words times predicates`: each predicate is another pass of the
        model over the words.
        """
        sentence = self.read(json_dict)
        words = len(sentence.words)
        predicates = self._predicates(sentence, json_dict)
        return {"words": words, "words times predicates": words * len(predicates)}

    def outputs(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """
        The frames of several inputs. Raises `InputError` if a predicate is not one of
        the tokens.
        """
        pairs = []
        counts = []  # of the predicates of each input
        found: list[JsonDict] = []
        for one in inputs:
            sentence = self.read(one)
            predicates = self._predicates(sentence, one)
            pairs += [(sentence, predicate) for predicate in predicates]
            counts.append(len(predicates))
            found.append({"tokens": sentence.words})
        frames = iter(self._frames(pairs))
        for output, count in zip(found, counts, strict=True):
            output["frames"] = list(islice(frames, count))
        return found

    def _frames(self, pairs: Sequence[tuple[TokenizedText, int]]) -> list[JsonDict]:
        """
        The frame of each sentence and predicate, in batches of sentences of a length.
        """
        lengths = [len(sentence.words) for sentence, _ in pairs]
        frames: dict[int, JsonDict] = {}
        reader = self._dataset_reader
        for numbers in batches_by_length(lengths, max_tokens=MAX_TOKENS):
            batch = []
            for number in numbers:
                sentence, predicate = pairs[number]
                instance = reader.text_to_instance(sentence.words, predicate)
                metadata_of(instance)["sentence"] = sentence
                batch.append(instance)
            outputs = self.predict_batch_instance(batch)
            for number, output in zip(numbers, outputs, strict=True):
                (frames[number],) = output["frames"]
        return [frames[number] for number in range(len(pairs))]

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """One frame."""
        known = metadata_of(instance)
        tags = outputs["tags"]
        sentence: TokenizedText = known.get("sentence") or TokenizedText(known["words"])
        arguments = [
            {"label": label} | sentence.located(start, end)
            for start, end, label in spans_from_tags(tags)
        ]
        verb = sentence.words[known["predicate"]]
        frame = {
            "predicate": known["predicate"],
            "verb": verb,
            "tags": tags,
            "arguments": arguments,
        }
        return {"tokens": sentence.words, "frames": [frame]}

    def _predicates(self, sentence: TokenizedText, json_dict: JsonDict) -> list[int]:
        if "predicates" in json_dict:
            predicates: list[int] = json_dict["predicates"]
            return predicates
        known = self._model.vocab.get_token_to_index_vocabulary(PREDICATES)
        words = enumerate(sentence.words)
        return [index for index, word in words if word.lower() in known]
