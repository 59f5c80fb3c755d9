"""Models that are saved: formats, cards, and what must not be replaced."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.formats.bilm_files import Format
from elmo_tasks.system.files import file_sha256
from tests.elmo.samples import random_bilm, write_bilm

TEXT = ["The harbour froze over ."]
FILES = {
    "hdf5": ["options.json", "weights.hdf5"],
    "safetensors": ["config.json", "model.safetensors"],
}


@pytest.fixture
def elmo(tmp_path: Path) -> Elmo:
    (tmp_path / "bilm").mkdir()
    write_bilm(tmp_path / "bilm")
    return Elmo.from_pretrained(tmp_path / "bilm", device="cpu")


def names(folder: Path) -> list[str]:
    return sorted([path.name for path in folder.iterdir()])


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("chosen", FILES)
def test_formats(elmo: Elmo, tmp_path: Path, chosen: Format, precision: str) -> None:
    """Also of a biLM whose weights are rounded in memory."""
    rounded = Elmo.from_pretrained(tmp_path / "bilm", device="cpu", precision=precision)
    out = tmp_path / "new/out"
    rounded.save_pretrained(out, format=chosen)
    assert names(out) == sorted(["README.md"] + FILES[chosen])
    again = Elmo.from_pretrained(out, device="cpu")
    assert np.array_equal(again.embed(TEXT)[0], elmo.embed(TEXT)[0])
    again.save_pretrained(tmp_path / "copy")  # the same bytes
    for name in FILES[chosen]:
        assert file_sha256(tmp_path / "copy" / name) == file_sha256(out / name)


@pytest.mark.parametrize("chosen", [None, "hdf5", "safetensors"])
def test_a_bilm_made_in_python(tmp_path: Path, chosen: Format | None) -> None:
    made = Elmo(Layers(random_bilm()))
    made.save_pretrained(tmp_path / "out", format=chosen)
    assert names(tmp_path / "out") == sorted(["README.md"] + FILES[chosen or "hdf5"])
    again = Elmo.from_pretrained(tmp_path / "out", device="cpu")
    assert np.array_equal(again.embed(TEXT)[0], made.embed(TEXT)[0])


def card(folder: Path) -> tuple[dict[str, object], str]:
    """The YAML of a card, and its text."""
    _, front, body = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def test_a_card(elmo: Elmo, tmp_path: Path) -> None:
    said = {"language": "la", "license": "cc-by-sa-4.0", "text": "letters | of\nCicero"}
    elmo.save_pretrained(tmp_path / "latin", perplexity=214.83, **said)
    front, body = card(tmp_path / "latin")
    assert front == {
        "language": "la",
        "license": "cc-by-sa-4.0",
        "library_name": "elmo-tasks",
        "tags": ["elmo", "bilm", "feature-extraction"],
        "pipeline_tag": "feature-extraction",
    }
    for part in (
        "# latin\n",
        "| language | la |",
        "| licence | cc-by-sa-4.0 |",
        "| text | letters \\| of Cicero |",
        "| held-out perplexity | 214.8 (`<UNK>`: not stated) |",
        "| vectors | 3 layers of 12 values |",
        f"| parameters | {random_bilm().options.n_parameters:,} |",
        'Elmo.from_pretrained("hf://OWNER/NAME")  # or the path of this folder',
    ):
        assert part in body, part


def test_a_name_does_not_break_the_card(tmp_path: Path) -> None:
    (tmp_path / "bilm").mkdir()
    write_bilm(tmp_path / "bilm")
    file = tmp_path / "bilm/options.json"
    tuned = {"tuned_from": [{"name": "x | y\n\n# z"}]}
    file.write_text(json.dumps(json.loads(file.read_text()) | tuned))
    elmo = Elmo.from_pretrained(tmp_path / "bilm", device="cpu")
    elmo.save_pretrained(tmp_path / "out")
    assert "| x \\| y # z |" in card(tmp_path / "out")[1]


def test_which_card_is_written(elmo: Elmo, tmp_path: Path) -> None:
    elmo.save_pretrained(tmp_path / "first", language="la", perplexity=214.83)
    again = Elmo.from_pretrained(tmp_path / "first", device="cpu")
    again.save_pretrained(tmp_path / "second")  # what the opened model's card says
    read = tmp_path / "second/README.md"
    for part in ("| language | la |", "| 214.8 (`<UNK>`: not stated) |"):
        assert part in read.read_text()
    read.write_text("mine")
    again.save_pretrained(tmp_path / "second")
    assert read.read_text() == "mine"
    again.save_pretrained(tmp_path / "second", language="grc")
    assert "| language | grc |" in read.read_text()


def test_the_embedded_bilm_has_its_text_and_terms(tmp_path: Path) -> None:
    Elmo.from_pretrained(device="cpu").save_pretrained(tmp_path / "out")
    _, body = card(tmp_path / "out")
    assert "Wikipedia" in body and "CC BY-SA" in body
