"""`options.json`: what is read, what is written, and what each mistake is called."""

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


def test_the_defaults_are_the_papers() -> None:
    assert BiLMOptions.from_dict(OFFICIAL) == BiLMOptions()
    assert BiLMOptions().to_dict() == OFFICIAL


@pytest.mark.parametrize("characters", [261, 262])
def test_both_counts_of_characters_and_training_keys_are_read(characters: int) -> None:
    training = {**changed("char_cnn", n_characters=characters), "n_epochs": 10, "bidirectional": True}
    assert BiLMOptions.from_dict(training) == BiLMOptions()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
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
        ([], "must have an object 'lstm', found None"),
        ({"lstm": OFFICIAL["lstm"]}, "must have an object 'char_cnn', found None"),
        (without("lstm", "dim", "n_layers"), "options lack lstm.dim, lstm.n_layers"),
        (without("char_cnn", "filters"), "options lack char_cnn.filters"),
        (changed("lstm", dim=0), "dim must be a whole number of at least 1, found 0"),
        (changed("lstm", dim=2.5), "dim must be a whole number of at least 1, found 2.5"),
        (changed("lstm", cell_clip=-1), "cell_clip must be null or a finite number of at least 0, found -1"),
        (changed("lstm", cell_clip=float("nan")), "cell_clip must be null or a finite number of at least 0, found nan"),
        (changed("lstm", proj_clip=float("inf")), "proj_clip must be null or a finite number of at least 0, found inf"),
        (changed("lstm", proj_clip=True), "proj_clip must be null or a finite number of at least 0, found True"),
        (changed("lstm", use_skip_connections="no"), "use_skip_connections must be true or false, found 'no'"),
        (changed("char_cnn", activation="gelu"), "activation must be one of relu, tanh, found 'gelu'"),
        (changed("char_cnn", n_highway=-1), "n_highway must be a whole number from 0 to 100, found -1"),
        (changed("char_cnn", n_highway=10**30), "n_highway must be a whole number from 0 to 100, found 10+$"),
        (changed("lstm", n_layers=10**30), "n_layers must be a whole number from 1 to 100, found 10+$"),
        (changed("char_cnn", filters=[]), r"filters must name from 1 to 100 \[width, count\], found 0"),
        (changed("char_cnn", filters=[[1, 1]] * 1000), r"filters must name from 1 to 100 .*, found 1,000"),
        (changed("char_cnn", filters=[[51, 2]]), r"a filter must be \[width up to 50, count\], found \[51, 2\]"),
        (changed("char_cnn", filters=3), r"filters must be a list of \[width, count\], found 3"),
        (changed("char_cnn", n_characters=300), "n_characters must be 261 or 262, found 300"),
        (changed("char_cnn", max_characters_per_token=40), "max_characters_per_token must be 50, found 40"),
        (changed("lstm", dim=-1, n_layers=0), "dim .* found -1; n_layers .* found 0"),
    ],
)
def test_each_mistake_is_named_with_its_file(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "options.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"options.json: .*{message}"):
        BiLMOptions.from_file(path)


def test_a_file_far_too_large_for_options(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text("[" + "[]," * 400_000 + "[]]")
    with pytest.raises(InputError, match=r"options.json: the biLM's options were wanted, found 1,200,004 bytes"):
        BiLMOptions.from_file(tmp_path / "options.json")


def test_no_json_is_found_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    path.write_text('{\n"lstm": {,\n}')
    with pytest.raises(InputError, match="options.json:2: not JSON"):
        BiLMOptions.from_file(path)


@pytest.mark.parametrize("content", [None, b"\x80\x81\xff"])
def test_unreadable_options(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "options.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="options.json: cannot read the biLM's options"):
        BiLMOptions.from_file(path)
