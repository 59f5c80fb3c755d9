"""A model card for an exported biLM: a README.md with the metadata of the Hugging Face Hub."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from safetensors.torch import save

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write
from elmo_tasks.pretraining.export import EXPORTED, OPTIONS_FILE, VOCABULARY_FILE, WEIGHT_FILE
from elmo_tasks.pretraining.progress import CURVE_FILE
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary

ADDED = CARD_FILE, SAFETENSORS_FILE = "README.md", "weights.safetensors"

_CARD = resources.files(__package__).joinpath("card.md.jinja")


def check_card(**fields: str | None) -> None:
    """Raises `InputError` unless the `name` is that of a repository and all fields of a card are given."""
    missing = [name for name, value in fields.items() if not value or "\n" in value]
    if missing:
        raise InputError(f"expected {' and '.join(missing)} for the card, one line each")
    name = fields["name"] or ""
    if name.count("/") != 1 or not all(name.split("/")):
        raise InputError(f"expected the name of a repository such as owner/name, got {name!r}")


def write_card(folder: Path, run: Path, *, name: str, language: str, license: str, corpus: str) -> None:
    """
    Add `README.md` and `weights.safetensors` to an exported folder.

    # Parameters

    - `folder`: with the files of `export_run`.
    - `run`: the run's folder, whose `curve.jsonl` has tokens and perplexities.
    - `name`: where it will be shared: `owner/name`.
    - `language`, `license`, `corpus`: language code, licence identifier as on the Hub, and the text in words.
    """
    bilm = BiLM.from_files(folder / OPTIONS_FILE, folder / WEIGHT_FILE)
    with atomic_write(folder / SAFETENSORS_FILE) as temporary:
        temporary.write_bytes(save(bilm.state_dict()))  # save_file makes it private
    text = jinja2.Template(_CARD.read_text("utf-8"), trim_blocks=True, keep_trailing_newline=True).render(
        name=name,
        language=language,
        license=license,
        corpus=corpus,
        options=bilm.options,
        words=len(WordVocabulary.from_file(folder / VOCABULARY_FILE)) - len(SPECIALS),
        best=_best_point(run),
        files={file: file_sha256(folder / file) for file in (*EXPORTED, SAFETENSORS_FILE)},
    )
    with atomic_write(folder / CARD_FILE) as temporary:
        temporary.write_text(text, "utf-8")


def _best_point(run: Path) -> dict[str, Any]:
    """The best validation of a run, whose weights are exported; empty if there was none."""
    curve = run / CURVE_FILE
    lines = curve.read_text("utf-8").splitlines() if curve.is_file() else []
    return min(map(json.loads, lines), key=lambda point: point["perplexity"], default={})
