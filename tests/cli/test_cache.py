"""`elmo-tasks cache`: arguments and output."""

from functools import partial
from pathlib import Path

import pytest

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.elmo.store import TABLE, VALUES, _stores
from elmo_tasks.errors import InputError
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from tests.elmo.samples import SENTENCES, write_bilm
from tests.test_flow import elmo_tasks

cache = partial(elmo_tasks, "cache")

TOKENS = sum(map(len, SENTENCES))
NON_EMPTY = sum(map(bool, SENTENCES))


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The weight files of two biLMs with the same options."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    return [write_bilm(folder, seed=seed)[1] for seed, folder in enumerate(folders)]


@pytest.fixture
def cache_dir(tmp_path: Path, weights: list[str]) -> Path:
    """All sentences by one biLM, the first sentence by the other; and files that are not the cache's."""
    folder = tmp_path / "cache"
    embedder(folder, weights[0])(batch_to_ids(SENTENCES))
    embedder(folder, weights[1])(batch_to_ids(SENTENCES[:1]))
    (folder / "notes.txt").write_text("mine")
    return folder


def embedder(folder: Path, weight_file: str) -> ElmoTokenEmbedder:
    options_file = Path(weight_file).with_name("options.json")
    return ElmoTokenEmbedder.open(options_file=options_file, weight_file=weight_file, cache_dir=folder).train()


def rows(shown: str) -> dict[str, list[str]]:
    """The columns after the sha256 of the weights, by its first digits."""
    header, *lines = shown.splitlines()
    columns = "weights options state precision stored sentences tokens bytes damaged files"
    assert header.split() == columns.split()
    return {line.split()[0]: line.split(maxsplit=9)[1:] for line in lines}


def size(cache_dir: Path, weight_file: str) -> int:
    (folder,) = [path.parent for path in cache_dir.glob("*/bilm.json") if file_sha256(weight_file) in path.read_text()]
    return sum(path.stat().st_size for path in folder.rglob("*") if path.name in (TABLE, VALUES))


def test_stats(cache_dir: Path, weights: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cache("stats", cache_dir)
    shown = rows(capsys.readouterr().out)
    options = file_sha256(Path(weights[0]).with_name("options.json"))[:12]
    counts = [(NON_EMPTY, TOKENS), (1, 5)]
    assert shown == {
        file_sha256(path)[:12]: [options, "reset", "float32", "float16", str(sentences), str(tokens)]
        + [f"{size(cache_dir, path):,}", "0", "weights.hdf5, options.json"]
        for path, (sentences, tokens) in zip(weights, counts, strict=True)
    }


def test_stats_counts_damaged_entries(cache_dir: Path, weights: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    stored = embedder(cache_dir, weights[1]).layers(batch_to_ids(SENTENCES[:1])).layers.half().numpy().tobytes()
    (path,) = [path for path in cache_dir.rglob(VALUES) if stored in path.read_bytes()]
    content = path.read_bytes().replace(stored, bytes(len(stored)))
    path.write_bytes(content)
    _stores.clear()  # this process, which has verified the entry, would not look again
    cache("stats", cache_dir)
    shown = rows(capsys.readouterr().out)
    assert [shown[file_sha256(file)[:12]][7] for file in weights] == ["0", "1"]
    assert shown[file_sha256(weights[1])[:12]][4:6] == ["0", "0"]


def test_clear_removes_the_cache_and_nothing_else(cache_dir: Path, weights: list[str]) -> None:
    (next(cache_dir.glob("*/bilm.json")).parent / "notes.txt").write_text("mine")
    cache("clear", cache_dir)
    assert [path.name for path in cache_dir.rglob("*") if path.is_file()] == ["notes.txt", "notes.txt"]
    assert not list(cache_dir.rglob("layers"))
    with pytest.raises(InputError, match="cache: expected a layer cache"):
        cache("clear", cache_dir)


def test_clear_of_one_bilm(cache_dir: Path, weights: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for weight_file, given in zip(weights, (weights[0], file_sha256(weights[1])[:12].upper()), strict=True):
        expected = f"removed {size(cache_dir, weight_file):,} bytes of weights.hdf5, options.json\n"
        cache("clear", cache_dir, "--weights", given)
        assert capsys.readouterr().out == expected
    assert [path.name for path in cache_dir.rglob("*") if path.is_file()] == ["notes.txt"]


@pytest.mark.parametrize("given", ["1", ""])
def test_clear_needs_one_weight_file(cache_dir: Path, given: str) -> None:
    before = sorted(cache_dir.rglob("*"))
    with pytest.raises(InputError, match=f"expected the sha256 of one of the weights .*, got '{given}'"):
        cache("clear", cache_dir, "--weights", given)
    assert sorted(cache_dir.rglob("*")) == before


@pytest.mark.parametrize("action", ["stats", "clear"])
def test_a_folder_that_is_not_a_cache_is_left_alone(tmp_path: Path, action: str) -> None:
    foreign = tmp_path / ("0" * 32)
    foreign.mkdir()
    for name in ("bilm.json", "x.layers", "data.mdb"):
        (foreign / name).write_text("{}")
    for folder in (tmp_path, tmp_path / "gone", foreign):
        with pytest.raises(InputError, match=f"^{folder}: expected a layer cache .give the folder"):
            cache(action, folder)
    assert len(list(foreign.iterdir())) == 3
