"""The vocabulary of a run is loaded in the class of the config."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import Vocabulary

from elmo_tasks.pretraining.data_loader import LmVocabulary
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"vocabulary": {"type": "elmo_tasks_words", "file": "a.txt"}}, LmVocabulary),
        ({"vocabulary": "elmo_tasks_words"}, LmVocabulary),
        ({"vocabulary": {"type": "from_files", "directory": "elsewhere"}}, Vocabulary),
        (None, Vocabulary),
    ],
)
def test_class_of_a_saved_vocabulary(config: Any, expected: type[Vocabulary], tmp_path: Path) -> None:
    """As a worker of a distributed training loads it."""
    LmVocabulary.of(WordVocabulary([*SPECIALS, "ferry"])).save_to_files(str(tmp_path / "vocabulary"))
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    loaded = Vocabulary.from_params(Params({"type": "from_files", "directory": str(tmp_path / "vocabulary")}))
    assert type(loaded) is expected
    assert loaded.get_token_index("ferry", "words") == 3
