"""Reading and writing `options.json`."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.bilm import BiLMOptions
from elmo_tasks.errors import InputError
from tests.elmo.samples import options

OFFICIAL: dict[str, dict[str, Any]] = {
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
        "n_highway": 2,
        "embedding": {"dim": 16},
        "n_characters": 262,
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "max_characters_per_token": 50,
    },
}


def changed(section: str, **changes: Any) -> dict[str, Any]:
    return OFFICIAL | {section: OFFICIAL[section] | changes}


def without(section: str, *keys: str) -> dict[str, Any]:
    left = dict(OFFICIAL[section])
    for key in keys:
        del left[key]
    return OFFICIAL | {section: left}


def test_defaults_are_those_of_the_paper() -> None:
    training = changed("char_cnn", n_characters=261)
    training |= {"n_epochs": 10, "bidirectional": True}
    assert BiLMOptions.from_dict(OFFICIAL) == BiLMOptions()
    assert BiLMOptions.from_dict(training) == BiLMOptions()
    assert BiLMOptions().to_dict() == OFFICIAL


def test_a_round_trip(tmp_path: Path) -> None:
    for given in (
        options(n_highway=0, cell_clip=None, proj_clip=0.25),
        options(use_skip_connections=False),
    ):
        path = tmp_path / "options.json"
        path.write_text(json.dumps(given.to_dict()))
        assert BiLMOptions.from_file(path) == given


def test_absent_skips_and_clips_are_off() -> None:
    found = BiLMOptions.from_dict(
        without("lstm", "use_skip_connections", "cell_clip", "proj_clip")
    )
    assert found.use_skip_connections is False
    assert found.cell_clip is None
    assert found.proj_clip is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (without("lstm", "dim", "n_layers"), "n_layers: .* got None"),
        (changed("lstm", cell_clip=float("nan")), "NaN is not a valid number"),
        (changed("lstm", proj_clipp=3), "lstm.proj_clipp: expected one of the keys"),
        (
            changed("char_cnn", filters=[[51, 2]]),
            r"filters: expected .* 50, count\], got \[51, 2\]",
        ),
        (b'{\n"lstm": {,\n}', "Expecting property name"),
    ],
)
def test_invalid_values_are_named_with_the_file(
    tmp_path: Path, content: Any, message: str
) -> None:
    path = tmp_path / "options.json"
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"options.json:.*{message}"):
        BiLMOptions.from_file(path)
