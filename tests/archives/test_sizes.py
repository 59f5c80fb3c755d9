"""
Sizes in an archive's config that its weights do not have are one error, before memory
is given to them.
"""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.training.archives.loading import load_archive
from tests.archives.make import INPUTS, STORED
from tests.fuzz.subjects import with_member
from tests.hostile import outcome

pytestmark = pytest.mark.slow

RESERVED = 4 * 10**9
LIMITS = ("max_antecedents",)
"""Numbers that take no memory when a model is loaded."""


def sizes(holder: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """The places of all integers above 0 in a config."""
    parts = holder.items() if isinstance(holder, dict) else enumerate(holder)
    for key, value in list(parts):
        here = f"{path}.{key}".lstrip(".")
        if isinstance(value, dict | list):
            yield from sizes(value, here)
        elif type(value) is int and value > 0:
            yield holder, key, here


@pytest.mark.parametrize("task", INPUTS)
def test_each_size_of_each_model(task: str, tmp_path: Path) -> None:
    source = STORED / f"1/{task}.tar.gz"
    with tarfile.open(source) as archive:
        config = json.loads(archive.extractfile("config.json").read())  # type: ignore[union-attr]
    messages = []
    for holder, key, path in sizes(config["model"]):
        before = holder[key]
        holder[key] = 10**9 if key == "num_layers" else 10_000
        content = json.dumps(config).encode()
        (tmp_path / "a").write_bytes(with_member("config.json", content, source))
        message = outcome(lambda: load_archive(tmp_path / "a"), reserved=RESERVED)
        assert message is not None or path in LIMITS, path
        messages.append(message or "")
        holder[key] = before
    assert any("larger model than the weights" in message for message in messages)
