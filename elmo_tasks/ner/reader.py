"""CoNLL-2003 columns -> instances with BIOUL tags (paper, appendix A.7)."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from allennlp.data import DatasetReader, Field, Instance, Token, TokenIndexer
from allennlp.data.dataset_readers.dataset_reader import PathOrStr
from allennlp.data.fields import MetadataField, TextField
from allennlp.data.token_indexers import TokenCharactersIndexer

from elmo_tasks.data.columns import read_columns
from elmo_tasks.data.labels import OpenSequenceLabelField
from elmo_tasks.data.raw_text import blank_pipeline
from elmo_tasks.data.spans import Scheme, detect_scheme, spans_from_tags, to_bioul
from elmo_tasks.data.tokenizer import FirstCharacters
from elmo_tasks.data.words import WordIndexer
from elmo_tasks.elmo.indexer import CharacterIndexer
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

CORPUS_HINT = (
    "CoNLL-2003 has its annotation from https://www.clips.uantwerpen.be/conll2003/ner/ "
    "and its text from the Reuters Corpus RCV1, on request from NIST"
)


@DatasetReader.register("elmo_tasks_ner")
class NerReader(DatasetReader):
    """
    Reads files in CoNLL-2003 columns, plain or gzip: the word first, its tag last. Tags are in IOB1, BIO, BIOUL or
    BIOES; the scheme is detected from the whole file, regardless of `max_instances`.

    # Parameters

    - `token_indexers`: by default `tokens` (word ids), `token_characters` (for the character CNN, with marks for the
      beginning and end of a word, so that a filter of width 3 fits every word) and `elmo` (the biLM's characters).
    - `language`: of the rules that split raw text in predictions; see `blank_pipeline`.
    """

    def __init__(
        self,
        *,
        token_indexers: Optional[dict[str, TokenIndexer]] = None,
        language: str = "en",
        **kwargs: Any,
    ) -> None:
        super().__init__(manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs)
        self._token_indexers = token_indexers or _default_indexers()
        self.language = language
        if language != "en":
            blank_pipeline(language)

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        """Raises what `read_columns` and `detect_scheme` do."""
        file = str(file_path)
        sentences = list(read_columns(file, corpus_hint=CORPUS_HINT))
        tags = [(sentence.line, sentence.columns[-1]) for sentence in sentences]
        _log_counts(file, detect_scheme(tags, file=file), [of_one for _, of_one in tags])
        for one in self.shard_iterable(sentences):
            yield self.text_to_instance(one.columns[0], to_bioul(one.columns[-1]), file=file, line=one.line)

    def text_to_instance(
        self,
        tokens: Sequence[str | Token],
        tags: Sequence[str] | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
    ) -> Instance:
        """
        T words and, if known, T gold tags in BIOUL; `file` and `line` locate the sentence.

        Returns an instance with the fields `tokens` (T tokens), `tags` (T labels, if given, which need not be in the
        vocabulary), and `metadata`, a dictionary of `words`, `tags`, `file` and `line`, None if not given. Raises
        `InputError` if there is no token, or not one tag for each.
        """
        if not tokens:
            raise InputError("expected a token, got an empty sentence", file=file, line=line)
        if tags is not None and len(tags) != len(tokens):
            raise InputError(f"expected a tag for each of {len(tokens)} tokens, got {len(tags)}", file=file, line=line)
        text = TextField([word if isinstance(word, Token) else Token(word) for word in tokens])
        gold = None if tags is None else list(tags)
        metadata = {"words": [token.text for token in text], "tags": gold, "file": file, "line": line}
        fields: dict[str, Field] = {"tokens": text, "metadata": MetadataField(metadata)}
        if gold is not None:
            fields["tags"] = OpenSequenceLabelField(gold, text, label_namespace="labels")
        return Instance(fields)

    def apply_token_indexers(self, instance: Instance) -> None:
        """Sets the indexers of the text field, which are not sent between processes."""
        instance.fields["tokens"].token_indexers = self._token_indexers


def _default_indexers() -> dict[str, TokenIndexer]:
    characters = FirstCharacters(marked=True)
    return {
        "tokens": WordIndexer(),
        "token_characters": TokenCharactersIndexer(character_tokenizer=characters, min_padding_length=3),
        "elmo": CharacterIndexer(),
    }


def _log_counts(file: str, scheme: Scheme, tags: Sequence[Sequence[str]]) -> None:
    by_type = Counter(span.label for of_one in tags for span in spans_from_tags(of_one))
    listed = ", ".join(f"{label} {count}" for label, count in sorted(by_type.items()))
    tokens = sum(map(len, tags))
    name = scheme.name if by_type else "unknown scheme"
    logger.info(f"{file}: {len(tags)} sentences, {tokens} tokens, {name}, {by_type.total()} entities ({listed})")
