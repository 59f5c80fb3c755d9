"""`allennlp cache`: what the user types and reads."""

import re
from pathlib import Path

import pytest
from allennlp.commands import main

from elmo_tasks.elmo import ElmoTokenEmbedder, batch_to_ids
from elmo_tasks.elmo.cache_folder import FORMAT, CachedBiLm
from elmo_tasks.elmo.weights import file_sha256
from elmo_tasks.errors import InputError
from tests.elmo.samples import SENTENCES, write_bilm
from tests.pretrain import toy

TOKENS = sum(map(len, SENTENCES))
PRESENT = sum(map(bool, SENTENCES))
BYTES = TOKENS * 3 * 12 * 2 + PRESENT * 40


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The weight files of two biLMs with the same options."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    return [write_bilm(folder, seed=seed)[1] for seed, folder in enumerate(folders)]


@pytest.fixture
def cache_dir(tmp_path: Path, weights: list[str]) -> Path:
    """All sentences by the one biLM, the first alone by the other; and something that is none of the cache's."""
    folder = tmp_path / "cache"
    embed(folder, weights[0], SENTENCES)
    embed(folder, weights[1], SENTENCES[:1])
    (folder / "notes.txt").write_text("mine")
    return folder


def embed(folder: Path, weight_file: str, sentences: list[list[str]]) -> None:
    options_file = Path(weight_file).with_name("options.json")
    ElmoTokenEmbedder(options_file=options_file, weight_file=weight_file, cache_dir=folder)(batch_to_ids(sentences))


def cache(*arguments: object) -> None:
    with toy.own_terminal("cache", *map(str, arguments)):
        main(prog="allennlp")


def rows(shown: str) -> list[list[str]]:
    header, *lines = shown.splitlines()
    columns = "weights options state precision stored sentences tokens bytes damaged files"
    assert header.split() == columns.split()
    return [line.split(maxsplit=9) for line in lines]


def test_stats_tells_what_is_there(cache_dir: Path, weights: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cache("stats", cache_dir)
    found = {row[0]: row for row in rows(capsys.readouterr().out)}
    one, other = (found[file_sha256(path)[:12]] for path in weights)
    options = file_sha256(Path(weights[0]).with_name("options.json"))[:12]
    fixed = [options, "reset", "float32", "float16"]
    names = "weights.hdf5, options.json"
    assert one[1:] == [*fixed, str(PRESENT), str(TOKENS), f"{BYTES:,}", "0", names]
    assert other[1:] == [*fixed, "1", "5", str(5 * 72 + 40), "0", names]
    assert len(found) == 2


def test_stats_counts_damaged_entries(cache_dir: Path, weights: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for path in cache_dir.rglob("*.layers"):
        content = bytearray(path.read_bytes())
        content[0] ^= 1
        path.write_bytes(content)
    cache("stats", cache_dir)
    counts = sorted((row[5], row[6], row[8]) for row in rows(capsys.readouterr().out))
    assert counts == [("0", "0", "1"), (str(PRESENT - 1), str(TOKENS - 5), "1")]


def test_the_json_says_the_same(cache_dir: Path, weights: list[str]) -> None:
    described = [path.read_text() for path in sorted(cache_dir.glob("*/bilm.json"))]
    assert len(described) == 2
    for path in weights:
        (text,) = [text for text in described if file_sha256(path) in text]
        assert text.splitlines()[1:-1] == [
            f'  "options_sha256": "{file_sha256(Path(path).with_name("options.json"))}",',
            f'  "weights_sha256": "{file_sha256(path)}",',
            '  "state": "reset",',
            '  "precision": "float32",',
            '  "dtype": "float16",',
            '  "token_bytes": 72,',
            f'  "options_file": "{Path(path).with_name("options.json")}",',
            f'  "weight_file": "{path}",',
            f'  "format": {FORMAT}',
        ]


def test_clear_removes_the_cache_and_nothing_else(cache_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache("clear", cache_dir)
    removed = sorted(capsys.readouterr().out.splitlines())
    assert removed == [
        f"removed {BYTES:,} bytes, {PRESENT} sentences of weights.hdf5, options.json",
        "removed 400 bytes, 1 sentences of weights.hdf5, options.json",
    ]
    assert [path.name for path in cache_dir.iterdir()] == ["notes.txt"]
    with pytest.raises(InputError, match="cache: a layer cache was wanted, there is none"):
        cache("clear", cache_dir)


@pytest.mark.parametrize("by", ["file", "sha256", "SHA256", "first digits"])
def test_clear_of_one_bilm(cache_dir: Path, weights: list[str], by: str, capsys: pytest.CaptureFixture[str]) -> None:
    sha256 = file_sha256(weights[1])
    given = {"file": weights[1], "sha256": sha256, "SHA256": sha256.upper(), "first digits": sha256[:12]}
    cache("clear", cache_dir, "--weights", given[by])
    assert capsys.readouterr().out.startswith("removed 400 bytes, 1 sentences")
    cache("stats", cache_dir)
    ((kept, *_),) = rows(capsys.readouterr().out)
    assert kept == file_sha256(weights[0])[:12]


def test_clear_of_weights_that_are_not_there(cache_dir: Path, weights: list[str]) -> None:
    there = ", ".join(sorted(map(file_sha256, weights)))
    for given in ("0" * 64, "gone.hdf5", ""):
        with pytest.raises(InputError, match=f"cache: no weights with sha256 {given}, there are {there}$"):
            cache("clear", cache_dir, "--weights", given)
    assert len(list(cache_dir.glob("*/*.layers"))) == 2


def test_clear_needs_to_know_which(tmp_path: Path, weights: list[str]) -> None:
    """Digits that two biLMs' sha256 begin with."""
    for last in "ab":
        sha256 = "0" * 63 + last
        bilm = CachedBiLm(
            options_sha256=sha256,
            weights_sha256=sha256,
            state="reset",
            precision="float32",
            dtype="float16",
            token_bytes=72,
            options_file="options.json",
            weight_file="weights.hdf5",
        )
        bilm.write_to(tmp_path / bilm.folder_name)
    with pytest.raises(InputError, match=re.escape(f"several weights with sha256 00, there are {'0' * 63}a, ")):
        cache("clear", tmp_path, "--weights", "00")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("action", ["stats", "clear"])
def test_what_is_no_cache_is_left_alone(tmp_path: Path, weights: list[str], action: str) -> None:
    foreign = tmp_path / ("0" * 32)
    foreign.mkdir()
    for name in ("bilm.json", "x.layers", "x.index"):
        (foreign / name).write_text("{}")
    for folder in (tmp_path, tmp_path / "gone", Path(weights[0]), foreign):
        with pytest.raises(InputError, match=f"^{folder}: a layer cache was wanted, there is none .name the folder"):
            cache(action, folder)
    assert len(list(foreign.iterdir())) == 3


def test_a_run_goes_on_where_its_cache_is_cleared(cache_dir: Path, weights: list[str]) -> None:
    options_file = Path(weights[0]).with_name("options.json")
    elmo = ElmoTokenEmbedder(options_file=options_file, weight_file=weights[0], cache_dir=cache_dir)
    wanted = elmo(batch_to_ids(SENTENCES[:3]))
    elmo(batch_to_ids([["new", "words"]]))
    cache("clear", cache_dir)
    assert wanted.equal(elmo(batch_to_ids(SENTENCES[:3])))
    elmo(batch_to_ids([["other", "words"]]))
    assert len(list(cache_dir.glob("*/bilm.json"))) == 1


def test_without_an_action_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    cache()
    shown = capsys.readouterr().out
    assert [action for action in ("stats", "clear") if action in shown] == ["stats", "clear"]
