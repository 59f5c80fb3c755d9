"""Reading and writing `options.json`."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.bilm import BiLMOptions
from elmo_tasks.errors import InputError
from tests.elmo.samples import options

OFFICIAL = {
    "lstm": {
        "use_skip_connections": True,
        "projection_dim": 512,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 4096,
        "n_layers": 2,
    },
    "char_cnn": {
        "activation": "relu",
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "embedding": {"dim": 16},
        "n_characters": 262,
        "max_characters_per_token": 50,
    },
}


def changed(section: str, **changes: Any) -> dict[str, Any]:
    return {**OFFICIAL, section: {**OFFICIAL[section], **changes}}


def without(section: str, *keys: str) -> dict[str, Any]:
    return {**OFFICIAL, section: {k: v for k, v in OFFICIAL[section].items() if k not in keys}}


def test_defaults_are_those_of_the_paper() -> None:
    assert BiLMOptions.from_dict(OFFICIAL) == BiLMOptions()
    assert BiLMOptions().to_dict() == OFFICIAL


@pytest.mark.parametrize("characters", [261, 262])
def test_both_numbers_of_characters_and_training_keys_are_read(characters: int) -> None:
    training = {**changed("char_cnn", n_characters=characters), "n_epochs": 10, "bidirectional": True}
    assert BiLMOptions.from_dict(training) == BiLMOptions()


def test_a_round_trip(tmp_path: Path) -> None:
    for given in (options(n_highway=0, cell_clip=None, proj_clip=0.25), options(use_skip_connections=False)):
        path = tmp_path / "options.json"
        path.write_text(json.dumps(given.to_dict()))
        assert BiLMOptions.from_file(path) == given


def test_absent_skips_and_clips_are_off() -> None:
    found = BiLMOptions.from_dict(without("lstm", "use_skip_connections", "cell_clip", "proj_clip"))
    assert (found.use_skip_connections, found.cell_clip, found.proj_clip) == (False, None, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "lstm: expected an object, got None"),
        ({"lstm": OFFICIAL["lstm"]}, "char_cnn: expected an object"),
        (without("lstm", "dim", "n_layers"), "missing options: lstm.dim, lstm.n_layers"),
        (without("char_cnn", "filters"), "missing options: char_cnn.filters"),
        (changed("lstm", dim=2.5), "dim: .* got 2.5"),
        (changed("lstm", cell_clip=float("nan")), "cell_clip: .* got nan"),
        (changed("lstm", proj_clip=float("inf")), "proj_clip: .* got inf"),
        (changed("lstm", proj_clip=True), "proj_clip: .* got True"),
        (changed("lstm", use_skip_connections="no"), "use_skip_connections: .* got 'no'"),
        (changed("char_cnn", activation="gelu"), "activation: expected one of relu, tanh, got 'gelu'"),
        (changed("char_cnn", n_highway=10**30), "n_highway: .* at most 100, got 10+$"),
        (changed("char_cnn", filters=[]), "filters: .* got 0"),
        (changed("char_cnn", filters=[[1, 1]] * 1000), "filters: .* got 1,000"),
        (changed("char_cnn", filters=[[51, 2]]), r"filters: expected \[width up to 50, count\], got \[51, 2\]"),
        (changed("char_cnn", filters=3), "filters: .* got 3"),
        (changed("char_cnn", n_characters=300), "n_characters: expected 261 or 262, got 300"),
        (changed("char_cnn", max_characters_per_token=40), "max_characters_per_token: expected 50, got 40"),
        (changed("lstm", dim=-1, n_layers=0), "dim: .* got -1; n_layers: .* got 0"),
    ],
)
def test_invalid_values_are_named_with_the_file(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "options.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"options.json: .*{message}"):
        BiLMOptions.from_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, ": cannot read"),
        (b"\x80\x81\xff", ": cannot read"),
        (b'{\n"lstm": {,\n}', ":2: not JSON"),
        (b"[" * 10**6, ": not JSON"),
        (b" " * 2**20 + b"[]", ": expected the biLM's options, got a file of 1,048,578 bytes"),
    ],
    ids=["missing", "bytes", "syntax", "brackets", "large"],
)
def test_unreadable_files(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "options.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=f"options.json{message}"):
        BiLMOptions.from_file(path)
