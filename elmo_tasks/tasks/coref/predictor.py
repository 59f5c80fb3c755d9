"""Coreference predictor: raw text or tokenized sentences -> clusters with offsets."""

from typing import TYPE_CHECKING, Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.brackets import Cluster, Mention
from elmo_tasks.formats.json_values import text_of, words_of
from elmo_tasks.formats.raw_text import sentence_pipeline
from elmo_tasks.tasks.coref.reader import UNKNOWN_GENRE
from elmo_tasks.tasks.predictor import JsonLinesPredictor, metadata_of

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Token as SpacyToken

_EXPECTED = '{"text": "raw text"} or {"sentences": [["the", "words"], ["of", "each"]]}'


@Predictor.register("elmo_tasks_coref")
class CorefPredictor(JsonLinesPredictor):
    """
    Input: `{"text": "raw text"}`, or `{"sentences": [[...], ...]}`, optionally with `speakers` of each word of each
    sentence; either optionally with a `genre`, such as `nw`. Output:

    - `sentences`, the words of each;
    - `clusters`, each a list of mentions with `text`, `token_start`, `token_end` (within the document) and, for raw
      text, `start` and `end`. Ends are exclusive: `text[start:end]` is the mention's text;
    - `key` and `part`, for a document of a file.
    """

    keys = ("text", "sentences", "speakers", "genre")

    def __init__(self, model: Model, dataset_reader: DatasetReader, frozen: bool = True) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._nlp = sentence_pipeline("en")

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        metadata = metadata_of(instance)
        words = [word for sentence in metadata["sentences"] for word in sentence]
        clusters: list[Cluster] = outputs["clusters"]
        found = [[_mention(mention, words, metadata) for mention in cluster] for cluster in clusters]
        known = {} if metadata["key"] is None else {"key": metadata["key"], "part": metadata["part"]}
        return {**known, "sentences": metadata["sentences"], "clusters": found}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises `InputError` if the input does not have the documented form."""
        if not isinstance(json_dict, dict):
            raise InputError(f"expected {_EXPECTED}, got {shown(json_dict)}")
        if ("text" in json_dict) == ("sentences" in json_dict):
            which = "both" if "text" in json_dict else f"neither, but {shown(sorted(json_dict))}"
            raise InputError(f"expected {_EXPECTED}, got {which}")
        genre = text_of(json_dict, "genre", expected=_EXPECTED) if "genre" in json_dict else UNKNOWN_GENRE
        if "sentences" in json_dict:
            return self._sentences_instance(json_dict, genre)
        if json_dict.get("speakers") is not None:
            raise InputError("expected 'speakers' only with 'sentences', got them with 'text'")
        return self._text_instance(text_of(json_dict, "text", expected=_EXPECTED), genre)

    def _sentences_instance(self, json_dict: JsonDict, genre: str) -> Instance:
        speakers = json_dict.get("speakers")
        return self._dataset_reader.text_to_instance(
            _checked(json_dict["sentences"], "sentences"),
            speakers=None if speakers is None else _checked(speakers, "speakers"),
            genre=genre,
        )

    def _text_instance(self, text: str, genre: str) -> Instance:
        sentences = split_sentences(self._nlp(text))
        words = [[token.text for token in sentence] for sentence in sentences]
        instance = self._dataset_reader.text_to_instance(words, genre=genre)
        offsets = [(token.idx, token.idx + len(token)) for sentence in sentences for token in sentence]
        metadata_of(instance).update(text=text, offsets=offsets)
        return instance


def split_sentences(doc: "Doc") -> "list[list[SpacyToken]]":
    """The sentences of a text, none of which is empty. White space is not a token; a blank line ends a sentence."""
    sentences: list[list[SpacyToken]] = [[]]
    for token in doc:
        if token.is_sent_start or (token.is_space and token.text.count("\n") > 1):
            sentences.append([])
        if not token.is_space:
            sentences[-1].append(token)
    return [sentence for sentence in sentences if sentence]


def _checked(sentences: Any, key: str) -> list[list[str]]:
    if not isinstance(sentences, list) or not sentences:
        raise InputError(f"expected a non-empty list of sentences under {key!r}, got {shown(sentences)}")
    return [words_of(sentence, f"number {place} of {key!r}") for place, sentence in enumerate(sentences)]


def _mention(mention: Mention, words: list[str], metadata: dict[str, Any]) -> JsonDict:
    first, stop = mention
    tokens = {"token_start": first, "token_end": stop}
    if "text" not in metadata:
        return {"text": " ".join(words[first:stop]), **tokens}
    start, end = metadata["offsets"][first][0], metadata["offsets"][stop - 1][1]
    return {"text": metadata["text"][start:end], "start": start, "end": end, **tokens}
