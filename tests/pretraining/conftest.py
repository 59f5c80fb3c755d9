"""Text that several tests of the language model read."""

import gzip
import random
from pathlib import Path

import pytest

from tests.pretraining import toy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with the toy language."""
    return toy.write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """
    120 sentences `s<k> w w ...` of one to six tokens, in two plain shards and one gzip
    shard; four blank lines.
    """
    lengths = random.Random(5)
    lines = [" ".join([f"s{k}"] + ["w"] * lengths.randrange(6)) for k in range(120)]
    (tmp_path / "train.0.txt").write_text("\n".join(lines[:50]) + "\n\n  \n")
    (tmp_path / "train.1.txt").write_text("\n\n" + "\n".join(lines[50:70]))
    (tmp_path / "train.2.txt.gz").write_bytes(
        gzip.compress("\n".join(lines[70:]).encode())
    )
    return sorted(tmp_path.iterdir())
