"""The card and the options of a tuned biLM name each biLM that it was tuned from."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.bilm.weights import save_options
from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.layers import opened_models
from elmo_tasks.elmo.models.card import CardSettings
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.elmo.models.lineage import ancestor_of
from elmo_tasks.elmo.models.record import record_models
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.model import BiLMModel
from elmo_tasks.pretraining.export import export_run, load_trained, write_exported
from elmo_tasks.pretraining.vocabulary import SPECIALS, WordVocabulary
from elmo_tasks.resources import embedded_bilm
from elmo_tasks.system.files import file_sha256
from tests.fake_hub import fake_hub
from tests.pretraining import toy
from tests.test_flow import elmo_tasks

BUNDLED = embedded_bilm()
OF_BUNDLED = ("bundled", "Wikipedia (10.8 M", "under CC BY-SA")
NOT_STATED = "not stated by its files | not stated by its files |"
SAID = CardSettings(license="cc-by-4.0", text="letters")
WORDS = WordVocabulary([*SPECIALS, *toy.WORDS])


def tuned_run(folder: Path, start: Any) -> Path:
    """The folder of a run as a training begins and ends it; the training is a sum."""
    model = BiLMModel.tuned(LmVocabulary.of(WORDS), start)
    folder.mkdir(parents=True)
    record_models(folder, opened_models(model))
    save_options(model.language_model.bilm.options, folder / "options.json")
    config = {"model": {"type": "elmo_tasks_tuned_bilm", "bilm": start}}
    (folder / "config.json").write_text(json.dumps(config))
    model.vocab.save_to_files(str(folder / "vocabulary"))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.01)
    torch.save(model.state_dict(), folder / "best.th")
    return folder


def own(root: Path, **options: Any) -> Path:
    """An exported biLM that was not tuned."""
    toy.fake_run(root / "own")
    export_run(root / "own", root / "latin", **options)
    return root / "latin"


def with_card(root: Path, **options: Any) -> str:
    about = CardSettings(license="cc-by-sa-4.0", text="the Latin | Library")
    return str(own(root, about=about, **options))


def pair(folder: Path) -> str:
    return f"{folder}/options.json+{folder}/weights.hdf5"


def with_front_matter(root: Path) -> str:
    folder = own(root)
    (folder / "README.md").write_text("---\nlicense: gpl-3.0\n---\n# Latin\n")
    return str(folder)


STARTS: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "the bundled one": (lambda root: "bundled", OF_BUNDLED),
    "its files": (lambda root: "+".join(map(str, BUNDLED)), OF_BUNDLED),
    "an export": (with_card, ("latin", "the Latin \\| Library", "cc-by-sa-4.0")),
    "safetensors": (
        lambda root: with_card(root, chosen="safetensors"),
        ("latin", "the Latin \\| Library", "cc-by-sa-4.0"),
    ),
    "another's card": (with_front_matter, ("latin", "gpl-3.0")),
    "an export that says nothing": (lambda root: str(own(root)), ("latin", NOT_STATED)),
    "official files": (lambda root: pair(own(root)), ("weights.hdf5", NOT_STATED)),
    "a run": (
        lambda root: str(own(root).parent / "own"),
        ("own", NOT_STATED),
    ),
}


@pytest.mark.parametrize("case", STARTS)
def test_card_names_the_start(
    case: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make, expected = STARTS[case]
    run = tuned_run(tmp_path / "run", make(tmp_path))
    for folder in ("latin", "own"):  # what the files said when the run began
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    out = tmp_path / "out"
    export_run(run, out, about=SAID)
    section = card(out).partition("## Tuned from")[2]
    (digest,) = digests(out)
    for part in (*expected, digest):
        assert part in section, part
    assert "| licence | cc-by-4.0 |" in card(out)
    terms = expected[-1]
    assert (terms in caplog.text) == (terms != NOT_STATED)


def card(folder: Path) -> str:
    return (folder / "README.md").read_text("utf-8")


def digests(folder: Path) -> list[str]:
    """In the options, of the biLMs from which the one in the folder was tuned."""
    names = ("options.json", "config.json")
    (file,) = [folder / name for name in names if (folder / name).exists()]
    return [one["sha256"] for one in json.loads(file.read_text()).get("tuned_from", [])]


def exported(run: Path, out: Path) -> str:
    export_run(run, out, about=CardSettings(text="letters"))
    return str(out)


def without_card(run: Path, out: Path) -> str:
    exported(run, out)
    (out / "README.md").unlink()
    return str(out)


def by_the_training(run: Path, out: Path) -> str:
    """Its callback writes no card."""
    trained = load_trained(run)
    out.mkdir()
    write_exported(trained.model, trained.vocabulary, out)
    return str(out)


def saved(run: Path, out: Path) -> str:
    export_run(run, out.with_name("between"))
    Elmo.from_pretrained(out.with_name("between")).save_pretrained(out)
    return str(out)


def saved_files(run: Path, out: Path) -> str:
    export_run(run, out.with_name("between"))
    files = [
        out.with_name("between") / name for name in ("options.json", "weights.hdf5")
    ]
    out.mkdir()
    BiLM.from_files(*files).save_files(out / "options.json", out / "weights.hdf5")
    return str(out)


HANDED_ON: dict[str, Callable[[Path, Path], str]] = {
    "run": lambda run, out: str(run),
    "export": exported,
    "export without its card": without_card,
    "export at the end of a training": by_the_training,
    "saved": saved,
    "saved by Python": saved_files,
}


@pytest.mark.parametrize("case", HANDED_ON)
def test_card_of_a_bilm_tuned_twice_names_both(case: str, tmp_path: Path) -> None:
    first = tuned_run(tmp_path / "first", with_card(tmp_path))
    start = HANDED_ON[case](first, tmp_path / "first_out")
    export_run(tuned_run(tmp_path / "second", start), tmp_path / "out")
    of_latin = file_sha256(tmp_path / "latin/weights.hdf5")
    assert digests(tmp_path / "out")[1] == of_latin
    assert len(digests(tmp_path / "out")) == 2
    section = card(tmp_path / "out").partition("## Tuned from")[2]
    for part in (*digests(tmp_path / "out"), "latin", "Library", "cc-by-sa-4.0"):
        assert part in section, part


@pytest.mark.parametrize("chosen", ["hdf5", "safetensors"])
@pytest.mark.parametrize("about", [{}, {"license": "cc-by-4.0"}])
def test_every_saved_copy_names_the_start(
    about: dict[str, str], chosen: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tuned_run(tmp_path / "run", with_card(tmp_path))
    (digest,) = digests(Path(exported(run, tmp_path / "out")))
    elmo = Elmo.from_pretrained(tmp_path / "out", device="cpu")
    elmo.save_pretrained(tmp_path / "saved", format=chosen, **about)
    hub = fake_hub(tmp_path / "cache", monkeypatch)
    hub.repositories["me/latin"] = {
        path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()
    }
    Elmo.from_pretrained("hf://me/latin").save_pretrained(tmp_path / "again")
    tuned_run(tmp_path / "second", "hf://me/latin")
    export_run(tmp_path / "second", tmp_path / "tuned")
    for folder in (tmp_path / "saved", tmp_path / "again", tmp_path / "tuned"):
        assert digest in digests(folder) and digest in card(folder)
        assert "cc-by-sa-4.0" in card(folder).partition("## Tuned from")[2]
    assert "| hf://me/latin |" in card(tmp_path / "tuned")


def test_a_card_that_is_there_stays(tmp_path: Path) -> None:
    run = tuned_run(tmp_path / "run", "bundled")
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("mine")
    export_run(run, out)
    elmo = Elmo.from_pretrained(out, device="cpu")
    elmo.save_pretrained(out)
    assert card(out) == "mine"
    elmo.save_pretrained(tmp_path / "copy")
    assert "Wikipedia" in card(tmp_path / "copy")


TERMS = {
    "the same licence": ("CC-BY-SA-4.0", False),
    "another one": ("cc0-1.0", True),
    "the card says more": ("other", False),
    "none": (None, False),
}


@pytest.mark.parametrize("case", TERMS)
def test_licence_that_leaves_out_terms(
    case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    licence, warns = TERMS[case]
    about = CardSettings(license=licence, text="letters")
    start = with_card(tmp_path)
    export_run(tuned_run(tmp_path / "run", start), tmp_path / "out", about=about)
    assert ("latin (cc-by-sa-4.0)" in caplog.text) == warns
    caplog.clear()
    copied_licence = {} if licence is None else {"license": licence}
    Elmo.from_pretrained(start).save_pretrained(tmp_path / "copy", **copied_licence)
    assert ("latin (cc-by-sa-4.0)" in caplog.text) == warns


def test_what_publishers_say(tmp_path: Path) -> None:
    for name, text, terms in (
        ("elmo-original", "1 Billion Word", "no restrictions (https://"),
        ("nlpl-209", "", None),
    ):
        weights = tmp_path / "weights.hdf5"
        weights.touch()
        found = ancestor_of(
            ModelFiles("bilm", name, {"weight_file": weights}, "0" * 64)
        )
        assert found.name == name and text in str(found.text)
        assert terms is None or str(found.licence).startswith(terms)


@pytest.mark.parametrize("value", ["x", 5, [{}], [5], [{"name": ""}], {"name": "x"}])
def test_damaged_ancestors(value: Any, tmp_path: Path) -> None:
    folder = own(tmp_path)
    options = json.loads((folder / "options.json").read_text())
    (folder / "options.json").write_text(json.dumps(options | {"tuned_from": value}))
    with pytest.raises(InputError, match=r"options\.json: expected ancestors"):
        Elmo.from_pretrained(folder)


def test_share_of_unknown_words_stands_beside_the_perplexity(tmp_path: Path) -> None:
    toy.fake_run(tmp_path / "run")
    points = [
        {"perplexity": 20.0, "unknown": 0.5},
        {"perplexity": 12.25, "unknown": 0.0491},
    ]
    lines = [json.dumps(point) for point in points]
    (tmp_path / "run/curve.jsonl").write_text("\n".join(lines) + "\n")
    export_run(tmp_path / "run", tmp_path / "out", about=SAID)
    assert "| held-out perplexity | 12.2 (`<UNK>`: 4.91 %) |" in card(tmp_path / "out")
    elmo = Elmo.from_pretrained(tmp_path / "out", device="cpu")
    elmo.save_pretrained(tmp_path / "a", perplexity=84.7, unknown_share=0.0491)
    assert "84.7 (`<UNK>`: 4.91 %)" in card(tmp_path / "a")
    elmo.save_pretrained(tmp_path / "b", perplexity=84.7)
    assert "84.7 (`<UNK>`: not stated)" in card(tmp_path / "b")


LEAF = """
(import 'training_config/CONFIG.jsonnet') {
  dataset_reader: { type: 'elmo_tasks_lm' },
  train_data_path: 'CORPUS/lm/train.a.txt',
  validation_data_path: 'CORPUS/lm/heldout.a.txt',
  vocabulary: { type: 'elmo_tasks_words', file: 'START/vocabulary.txt' },
  model+: { type: 'elmo_tasks_tuned_bilm', options:: null, bilm: 'START' },
  trainer+: { num_epochs: 1 },
}
"""


def test_trainings_of_either_config(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """That of fine-tuning on plain text, then that of a biLM, which keeps no options."""
    corpus = toy.write_corpus(tmp_path / "corpus")
    start = with_card(tmp_path)
    for config in ("bilm_finetune", "bilm"):
        text = LEAF.replace("CONFIG", config).replace("START", start)
        leaf = corpus / f"{config}_again.jsonnet"
        leaf.write_text(text.replace("CORPUS", str(corpus)))
        elmo_tasks("train", leaf, "-s", tmp_path / config)
        start = str(tmp_path / f"{config}_out")
        caplog.clear()
        elmo_tasks("bilm", "export", tmp_path / config, start, "--license", "cc0-1.0")
        assert "latin (cc-by-sa-4.0)" in caplog.text
    found = card(Path(start))
    assert len(digests(Path(start))) == 2
    for part in (*digests(Path(start)), "cc-by-sa-4.0", "cc0-1.0", "(`<UNK>`: 0.00 %)"):
        assert part in found, part
