"""CoNLL-U or any column file -> instances with a tag for each word."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union

from allennlp.data import DatasetReader, Instance
from allennlp.data.dataset_readers.dataset_reader import PathOrStr

from elmo_tasks.data.columns import read_columns
from elmo_tasks.data.spans import detect_scheme, to_bioul
from elmo_tasks.data.tagged import read_tagged
from elmo_tasks.errors import InputError
from elmo_tasks.ner.reader import NerReader

logger = logging.getLogger(__name__)


@DatasetReader.register("elmo_tasks_tagger")
class ColumnReader(NerReader):
    """
    Reads sentences with a tag for each word, plain or gzip.

    # Parameters

    - `tag`: for CoNLL-U `upos`, `xpos`, `lemma`, `deprel` or a feature such as `feats:Case` (`_` where a word has
      none). For files with other columns the number of the tags' column, counted from 0, or from the last one with -1.
    - `word`: the number of the words' column, for files with other columns than CoNLL-U.
    - `spans`: whether the tags of a column encode spans in IOB1, BIO, BIOUL or BIOES, detected from the whole file.
      They become BIOUL.
    - `kwargs`: see `NerReader`.

    Raises `InputError` if `spans` is true for CoNLL-U. While reading: whatever `read_tagged`, `read_columns` or
    `detect_scheme` raises; if a line has no such column.
    """

    def __init__(self, *, tag: Union[str, int] = "upos", word: int = 0, spans: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if spans and isinstance(tag, str):
            raise InputError(f"expected the number of a column as tag where spans is true, got {tag!r}")
        self._tag, self._word, self._spans = tag, word, spans

    def _read(self, file_path: PathOrStr) -> Iterable[Instance]:
        file = str(file_path)
        sentences = list(self._sentences(file))
        if self._spans:
            detect_scheme([(line, tags) for _, tags, line in sentences], file=file)
        counts = Counter(tag for _, tags, _ in sentences for tag in tags)
        logger.info(f"{file}: {len(sentences)} sentences, {counts.total()} words, {len(counts)} tags")
        for words, tags, line in self.shard_iterable(sentences):
            yield self.text_to_instance(words, to_bioul(tags) if self._spans else tags, file=file, line=line)

    def _sentences(self, file: str) -> Iterator[tuple[Sequence[str], Sequence[str], int]]:
        """Words, tags, and the line of the first word, 0 if unknown."""
        if isinstance(self._tag, str):
            yield from ((*sentence, 0) for sentence in read_tagged(file, form="conllu", tag=self._tag))
            return
        for sentence in read_columns(file):
            try:
                columns = sentence.columns[self._word], sentence.columns[self._tag]
            except IndexError:
                problem = f"expected columns {self._word} and {self._tag}, counted from 0, got {len(sentence.columns)}"
                raise InputError(problem, file=file, line=sentence.line) from None
            yield *columns, sentence.line
