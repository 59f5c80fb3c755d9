"""Coreference predictor: raw text or tokenized sentences -> clusters with offsets."""

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor
from overrides import overrides
from pydantic import Field

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.raw_text import sentence_pipeline
from elmo_tasks.tasks.coref.reader import GENRES, UNKNOWN_GENRE
from elmo_tasks.tasks.inputs import (
    Box,
    Input,
    Output,
    Sentences,
    Span,
    Text,
    read_input,
)
from elmo_tasks.tasks.predictor import JsonLinesPredictor, TokenizedText, metadata_of

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.tokens import Token as SpacyToken


Speakers = Annotated[Sentences, Field(description="Of each word of each sentence.")]
Clusters = Annotated[
    list[list[Span]], Field(description="Mentions of the same person or thing.")
]


class CorefInput(Input):
    """A document as raw text, or the words of its sentences."""

    either = ("text", "sentences")

    text: Annotated[Text, Box("Text", 4)] = None  # type: ignore[assignment]
    sentences: Annotated[Sentences, Box("Words, one sentence per line", 6, "lines")] = (
        None  # type: ignore[assignment]
    )
    speakers: Speakers = None  # type: ignore[assignment]
    genre: Text = None  # type: ignore[assignment]


class CorefOutput(Output):
    """The clusters of a document."""

    sentences: Sentences
    clusters: Clusters


@Predictor.register("elmo_tasks_coref")
class CorefPredictor(JsonLinesPredictor):
    """
    Input: `{"text": "raw text"}`, or `{"sentences": [[...], ...]}`; optionally with
    `speakers` of each word of each sentence, and a `genre`, such as `nw`, which the
    training data must have. Output:

    - `sentences`, the words of each;
    - `clusters`, each a list of mentions with `text`, `token_start`, `token_end`
      (within the document) and, for raw text, `start` and `end`. Ends are exclusive:
      `text[start:end]` is the mention's text;
    - `key` and `part`, for a document of a file.
    """

    takes = CorefInput
    returns = CorefOutput

    @cached_property
    def _nlp(self) -> "Language":
        return sentence_pipeline("en")

    def sizes(self, json_dict: JsonDict) -> dict[str, int]:
        """
        `words`, `sentences`, and `sentences times words of the longest`, to which all
        sentences are padded.
        """
        sentences = metadata_of(self._json_to_instance(json_dict))["sentences"]
        lengths = [len(words) for words in sentences]
        return {
            "words": sum(lengths),
            "sentences": len(lengths),
            "sentences times words of the longest": len(lengths) * max(lengths),
        }

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        metadata = metadata_of(instance)
        document: TokenizedText | None = metadata.get("document")
        if document is None:
            document = TokenizedText(list(chain.from_iterable(metadata["sentences"])))
        clusters = []
        for cluster in outputs["clusters"]:
            clusters.append([document.located(start, end) for start, end in cluster])
        found: JsonDict = {}
        if metadata["key"] is not None:
            found["key"] = metadata["key"]
            found["part"] = metadata["part"]
        found["sentences"] = metadata["sentences"]
        found["clusters"] = clusters
        return found

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises `InputError` if the input does not have the documented form."""
        given = read_input(self.takes, json_dict)
        genre = UNKNOWN_GENRE
        if given.genre is not None:
            genre = self._known_genre(given.genre)
        if given.sentences is not None:
            return self._dataset_reader.text_to_instance(
                given.sentences, speakers=given.speakers, genre=genre
            )
        sentences = []
        flat = []
        offsets = []
        for tokens in split_sentences(self._nlp(given.text)):
            sentence = [token.text for token in tokens]
            sentences.append(sentence)
            flat += sentence
            offsets += [(token.idx, token.idx + len(token)) for token in tokens]
        instance = self._dataset_reader.text_to_instance(
            sentences, speakers=given.speakers, genre=genre
        )
        metadata_of(instance)["document"] = TokenizedText(flat, given.text, offsets)
        return instance

    def _known_genre(self, genre: str) -> str:
        """Raises `InputError` if the training data did not have it."""
        known = self._model.vocab.get_token_to_index_vocabulary(GENRES)
        if genre in known:
            return genre
        wanted = "no 'genre', since the training data had none"
        if known:
            wanted = f"'genre' to be one of {', '.join(sorted(known))}"
        raise InputError(f"expected {wanted}, got {shown(genre)}")


def split_sentences(doc: "Doc") -> "list[list[SpacyToken]]":
    """
    The sentences of a text, none of which is empty. White space is not a token; a blank
    line ends a sentence.
    """
    sentences: list[list[SpacyToken]] = [[]]
    for token in doc:
        if token.is_sent_start or (token.is_space and token.text.count("\n") > 1):
            sentences.append([])
        if not token.is_space:
            sentences[-1].append(token)
    return [sentence for sentence in sentences if sentence]
