"""The layer cache: the biLM's own layers, rounded once, whatever is in the folder and whatever happens to it."""

import copy
import errno
import logging
import pickle
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from torch import Tensor

from elmo_tasks.elmo import BiLm, ElmoTokenEmbedder, batch_to_ids, cache_segments
from elmo_tasks.elmo.bilm import BiLmOutput
from elmo_tasks.elmo.cache import LayerCache
from elmo_tasks.elmo.cache_batch import STORED
from elmo_tasks.elmo.cache_folder import statistics
from elmo_tasks.elmo.source import Source
from elmo_tasks.errors import InputError
from tests.elmo.samples import BATCHES, SENTENCES, write_bilm

IDS = batch_to_ids(SENTENCES)
PRESENT = sum(map(bool, SENTENCES))
TOKEN_BYTES = 3 * 12 * STORED.itemsize


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    options_file, weight_file = write_bilm(tmp_path_factory.mktemp("bilm"))
    return {"options_file": options_file, "weight_file": weight_file}


@pytest.fixture(scope="module")
def plain(files: dict[str, str]) -> ElmoTokenEmbedder:
    return ElmoTokenEmbedder(**files)


@pytest.fixture
def cached(files: dict[str, str], tmp_path: Path) -> Callable[..., ElmoTokenEmbedder]:
    """Embedders of the same biLM with a cache in `tmp_path / "cache"`."""
    return lambda **keys: ElmoTokenEmbedder(**{**files, "cache_dir": tmp_path / "cache", **keys})


def rounded(output: BiLmOutput) -> Tensor:
    return output.layers.to(STORED).to(output.layers.dtype)


def passes(bilm: BiLm) -> list[Tensor]:
    """The ids of every pass from now on."""
    seen: list[Tensor] = []
    bilm.register_forward_hook(lambda _, arguments, output: seen.append(arguments[0]))
    return seen


def segment(folder: Path) -> tuple[Path, Path]:
    """Index and values of the cache's only segment."""
    (index,), (values,) = folder.rglob("*.index"), folder.rglob("*.layers")
    return index, values


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


def test_the_layers_are_those_of_the_bilm_rounded_whether_computed_or_read(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder
) -> None:
    wanted = plain.layers(IDS)
    elmo, again = cached(), cached()
    for output in (elmo.layers(IDS), elmo.layers(IDS), again.layers(IDS)):
        assert torch.equal(output.layers, rounded(wanted))
        assert torch.equal(output.mask, wanted.mask)
        assert output.layers.dtype == torch.float32 and output.mask.dtype == torch.bool
    assert not torch.equal(rounded(wanted), wanted.layers)
    assert torch.equal(again(IDS), elmo(IDS))


def test_a_second_epoch_never_calls_the_bilm(cached: Callable[..., ElmoTokenEmbedder]) -> None:
    """Not even in another order and with other padding, nor in another process, which has another embedder."""
    first, second = cached(), cached()
    seen = [passes(elmo.bilm) for elmo in (first, second)]
    epoch = {tuple(words): vectors for batch in BATCHES for words, vectors in by_sentence(first, batch)}
    computed = len(seen[0])
    assert computed == 2  # the third batch has nothing new
    for elmo in (first, second):
        for batch in ([SENTENCES[1], SENTENCES[2]], SENTENCES[::-1], *BATCHES[::-1]):
            for words, vectors in by_sentence(elmo, batch):
                assert torch.equal(vectors, epoch[tuple(words)])
    assert (len(seen[0]), len(seen[1])) == (computed, 0)


def by_sentence(elmo: ElmoTokenEmbedder, batch: list[list[str]]) -> Iterator[tuple[list[str], Tensor]]:
    output = elmo.layers(batch_to_ids(batch))
    for row, words in enumerate(batch):
        assert output.layers[:, row, len(words) :].eq(0).all()
        yield words, output.layers[:, row, : len(words)]


def test_only_what_is_missing_is_computed_and_once(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder
) -> None:
    elmo = cached()
    elmo.layers(batch_to_ids([SENTENCES[2], SENTENCES[0]]))
    seen = passes(elmo.bilm)
    batch = [SENTENCES[place] for place in (4, 2, 1, 4, 3, 0, 1, 1)]
    ids = torch.cat([batch_to_ids(batch), torch.zeros(8, 3, 50, dtype=torch.long)], 1)
    output = elmo.layers(ids)
    assert [tuple(ids.shape) for ids in seen] == [(2, 4, 50)]
    assert torch.equal(seen[0], batch_to_ids([SENTENCES[4], SENTENCES[1]]))
    torch.testing.assert_close(output.layers, plain.layers(ids).layers, atol=2e-3, rtol=1e-3)
    assert torch.equal(output.layers[:, 2], output.layers[:, 7])


def test_empty_rows_and_batches(cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder) -> None:
    elmo = cached()
    assert elmo.layers(batch_to_ids([[], ["one"], []])).layers[:, [0, 2]].eq(0).all()
    for shape in ((2, 3, 50), (2, 0, 50), (0, 3, 50), (0, 0, 50)):
        ids = torch.zeros(shape, dtype=torch.long)
        found, wanted = elmo.layers(ids), plain.layers(ids)
        assert torch.equal(found.layers, wanted.layers) and torch.equal(found.mask, wanted.mask)
        assert found.layers.dtype == wanted.layers.dtype


def test_ids_of_any_kind(cached: Callable[..., ElmoTokenEmbedder]) -> None:
    """Narrow ones, and ones that share memory."""
    elmo = cached()
    wanted = elmo.layers(IDS).layers
    assert torch.equal(elmo.layers(IDS.to(torch.int32)).layers, wanted)
    assert torch.equal(elmo.layers(IDS[1:2].expand(3, -1, -1)).layers, wanted[:, [1, 1, 1]])


def test_wrong_ids_are_the_bilms_errors(cached: Callable[..., ElmoTokenEmbedder]) -> None:
    elmo = cached()
    elmo.layers(IDS)
    with pytest.raises(ValueError, match=r"must have the shape \[B, T, 50\], found \[7, 50\]"):
        elmo.layers(IDS[:, 0])
    with pytest.raises(ValueError, match="a padding token .all zeros. before a real one"):
        elmo.layers(batch_to_ids([["one", "more"]])[:, [0, 0, 1]] * torch.tensor([1, 0, 1])[:, None])
    with pytest.raises(IndexError):
        elmo.layers(IDS + 2**16 * IDS.gt(0))


def test_double_precision_has_its_own_entries(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder
) -> None:
    elmo = cached()
    single = elmo.layers(IDS).layers
    elmo.to(torch.float64)
    seen = passes(elmo.bilm)
    double = elmo.layers(IDS).layers
    assert double.dtype == torch.float64 and len(seen) == 1
    wanted = copy.deepcopy(plain).to(torch.float64).layers(IDS)
    assert torch.equal(double, rounded(wanted))
    elmo.to(torch.float32)
    assert torch.equal(elmo.layers(IDS).layers, single) and len(seen) == 1


def test_a_lower_precision_has_its_own_entries(cached: Callable[..., ElmoTokenEmbedder], tmp_path: Path) -> None:
    exact, low = cached(), cached(precision="bfloat16")
    exact.layers(IDS)
    seen = passes(low.bilm)
    assert not torch.equal(low.layers(IDS).layers, exact.layers(IDS).layers) and len(seen) == 1
    assert {found.bilm.precision for found in statistics(tmp_path / "cache")} == {"float32", "bfloat16"}


@pytest.mark.parametrize("changes", [{"seed": 4}, {"cell_clip": 0.1}], ids=["weights", "options"])
def test_another_bilm_never_reads_old_entries(
    cached: Callable[..., ElmoTokenEmbedder], tmp_path: Path, changes: dict[str, Any]
) -> None:
    cached().layers(IDS)
    (tmp_path / "other").mkdir()
    other = dict(zip(("options_file", "weight_file"), write_bilm(tmp_path / "other", **changes), strict=True))
    elmo = cached(**other)
    assert torch.equal(elmo.layers(IDS).layers, rounded(ElmoTokenEmbedder(**other).layers(IDS)))
    assert not torch.equal(elmo.layers(IDS).layers, cached().layers(IDS).layers)
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_the_same_files_elsewhere_read_the_same_entries(
    cached: Callable[..., ElmoTokenEmbedder], tmp_path: Path
) -> None:
    cached().layers(IDS)
    (tmp_path / "copy").mkdir()
    elmo = cached(**dict(zip(("options_file", "weight_file"), write_bilm(tmp_path / "copy"), strict=True)))
    seen = passes(elmo.bilm)
    elmo.layers(IDS)
    assert seen == []


def test_entries_of_other_processes_are_found_without_opening_anew(cached: Callable[..., ElmoTokenEmbedder]) -> None:
    one, other = cached(), cached()
    one.layers(IDS[:1])
    other.layers(IDS[1:3])
    seen = passes(one.bilm)
    one.layers(IDS[1:3])
    assert seen == []


def test_cut_files_never_give_a_wrong_vector(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder, tmp_path: Path
) -> None:
    """At every byte of the last record, and of its values."""
    elmo = cached()
    wanted = torch.cat([elmo.layers(IDS[place : place + 1]).layers for place in range(len(IDS))], 1)
    cuts = 0
    for path, last in zip(segment(tmp_path / "cache"), (40, TOKEN_BYTES * len(SENTENCES[-1])), strict=True):
        whole = path.read_bytes()
        for size in range(len(whole) - last, len(whole)):
            path.write_bytes(whole[:size])
            output = layers_of(tmp_path / "cache", plain)
            assert torch.equal(output, wanted)
            keep_only(tmp_path / "cache", path)
            cuts += 1
        path.write_bytes(whole)
    assert cuts == 40 + TOKEN_BYTES * 4


def layers_of(cache_dir: Path, elmo: ElmoTokenEmbedder) -> Tensor:
    """What a new process finds; row by row, so that what is missing is computed alone."""
    cache = LayerCache(cache_dir, elmo.source)
    return torch.cat([cache.layers(elmo.bilm, IDS[place : place + 1]).layers for place in range(len(IDS))], 1)


def keep_only(cache_dir: Path, path: Path) -> None:
    """Removes the segments but that of `path`."""
    for other in [*cache_dir.rglob("*.index"), *cache_dir.rglob("*.layers")]:
        if other.stem != path.stem:
            other.unlink()


@pytest.mark.parametrize("which", [0, 1], ids=["index", "values"])
def test_a_flipped_byte_is_noticed_computed_anew_and_told_once(
    cached: Callable[..., ElmoTokenEmbedder], tmp_path: Path, which: int, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = cached().layers(IDS).layers
    path = segment(tmp_path / "cache")[which]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    content[-1] ^= 0x80
    path.write_bytes(content)
    elmo, after = cached(), cached()
    seen = [passes(embedder.bilm) for embedder in (elmo, after)]
    for _ in range(2):
        torch.testing.assert_close(elmo.layers(IDS).layers, wanted, atol=2e-3, rtol=1e-3)
    assert [len(ids) for ids in seen[0]] == [2]
    assert warnings(caplog) == [f"layer cache {path.parent}: entries are damaged, and computed anew"]
    assert torch.equal(after.layers(IDS).layers, elmo.layers(IDS).layers) and seen[1] == []


def test_values_beyond_float16_are_neither_stored_nor_rounded(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder
) -> None:
    wanted = plain.layers(IDS).layers

    def enlarge(_: BiLm, arguments: tuple[Tensor], output: BiLmOutput) -> BiLmOutput:
        """As an unclipped biLM may: one value of the sentences of five tokens."""
        output.layers[1, output.mask.sum(1) == 5, 2, 3] = 70000.0
        return output

    elmo = cached()
    elmo.bilm.register_forward_hook(enlarge)
    seen = passes(elmo.bilm)
    large = [row for row, words in enumerate(SENTENCES) if len(words) == 5]
    assert large == [0, 2]
    for _ in range(2):
        found = elmo.layers(IDS).layers
        assert found[1, large, 2, 3].tolist() == [70000.0, 70000.0]
        found[1, large, 2, 3] = wanted[1, large, 2, 3]
        torch.testing.assert_close(found[:, large], wanted[:, large], atol=1e-6, rtol=0.0)
        others = [row for row in range(len(SENTENCES)) if row not in large]
        assert torch.equal(found[:, others], wanted[:, others].to(STORED).float())
    assert [len(ids) for ids in seen] == [PRESENT, 2]


def test_a_folder_that_cannot_be_made_costs_one_warning(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    elmo = cached(cache_dir=tmp_path / "file" / "cache")
    for _ in range(2):
        assert torch.equal(elmo.layers(IDS).layers, rounded(plain.layers(IDS)))
    (warning,) = warnings(caplog)
    assert warning.startswith(f"layer cache {tmp_path}/file/cache: nothing more is written, the run goes on: ")
    assert warning.endswith("cannot write: Not a directory")


def test_a_read_only_folder_is_read(
    cached: Callable[..., ElmoTokenEmbedder], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = cached().layers(IDS[:4]).layers

    tried: list[Path] = []

    def refuse(folder: Path) -> Path:
        tried.append(folder)
        raise OSError(errno.EROFS, "Read-only file system", str(folder))

    monkeypatch.setattr(cache_segments, "_create", refuse)
    elmo = cached()
    seen = passes(elmo.bilm)
    for _ in range(2):
        assert torch.equal(elmo.layers(IDS).layers[:, :4, : wanted.shape[2]], wanted)
    assert [len(ids) for ids in seen] == [3, 3] and len(tried) == 1
    (warning,) = warnings(caplog)
    assert "nothing more is written, the run goes on: [Errno 30] Read-only file system" in warning


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Writing fails beyond `size` bytes of a file, with part of the data written, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_costs_one_warning_and_no_entry(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elmo = cached()
    elmo.layers(IDS[:1])
    index, values = segment(tmp_path / "cache")
    sizes = index.stat().st_size, values.stat().st_size
    with files_end_at(1200):
        for _ in range(2):
            output = elmo.layers(IDS)
    torch.testing.assert_close(output.layers, rounded(plain.layers(IDS)), atol=2e-3, rtol=1e-3)
    (warning,) = warnings(caplog)
    assert warning.endswith("nothing more is written, the run goes on: [Errno 27] File too large")
    assert (index.stat().st_size, values.stat().st_size) == sizes
    again = cached()
    seen = passes(again.bilm)
    assert torch.equal(again.layers(IDS[:1]).layers[:, :, :5], output.layers[:, :1, :5]) and seen == []
    again.layers(IDS)
    assert [len(ids) for ids in seen] == [PRESENT - 1]


def test_nothing_is_written_beyond_the_limit(
    cached: Callable[..., ElmoTokenEmbedder], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    room = 2 * TOKEN_BYTES * 5 + 2 * 40
    elmo = cached(cache_limit_gb=room / 10**9)
    wanted = torch.cat([elmo.layers(IDS[place : place + 1]).layers for place in (0, 2)], 1)
    size = sum(path.stat().st_size for path in segment(tmp_path / "cache"))
    assert size == room and warnings(caplog) == []
    for _ in range(2):
        assert torch.equal(elmo.layers(IDS).layers[:, [0, 2]], wanted)
    assert sum(path.stat().st_size for path in segment(tmp_path / "cache")) == room
    (warning,) = warnings(caplog)
    assert warning == (
        f"layer cache {tmp_path / 'cache'}: nothing more is written, the run goes on: its limit of 8e-07 GB is reached"
    )
    cached().layers(IDS)
    assert sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.layers")) > room


def test_the_limit_counts_all_bilms(cached: Callable[..., ElmoTokenEmbedder], tmp_path: Path) -> None:
    cached().layers(IDS)
    (tmp_path / "other").mkdir()
    other = dict(zip(("options_file", "weight_file"), write_bilm(tmp_path / "other", seed=4), strict=True))
    size = sum(path.stat().st_size for path in segment(tmp_path / "cache"))
    cached(**other, cache_limit_gb=1.5 * size / 10**9).layers(IDS)
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda elmo: pickle.loads(pickle.dumps(elmo))])
def test_copies_open_the_folder_for_themselves(cached: Callable[..., ElmoTokenEmbedder], clone: Any) -> None:
    elmo = cached()
    unused = pickle.dumps(elmo.cache)
    wanted = elmo.layers(IDS).layers
    assert pickle.dumps(elmo.cache) == unused
    other = clone(elmo)
    assert other.cache._store is None
    seen = passes(other.bilm)
    assert torch.equal(other.layers(IDS).layers, wanted) and seen == []
    assert other.cache._store is not elmo.cache._store


def test_a_model_shows_nothing_of_it(
    cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder, tmp_path: Path
) -> None:
    elmo = cached()
    assert not (tmp_path / "cache").exists()
    elmo.layers(IDS)
    state = elmo.state_dict()
    assert state.keys() == plain.state_dict().keys()
    assert all(torch.equal(state[name], value) for name, value in plain.state_dict().items())
    assert [type(module) for module in elmo.modules()] == [type(module) for module in plain.modules()]
    elmo.set_extra_state(Source.to_state(plain.source, with_contents=False))


def test_relative_folders_are_those_of_the_start(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    elmo = ElmoTokenEmbedder.from_params(Params({**files, "cache_dir": "layers"}))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    elmo.layers(IDS)
    assert (tmp_path / "layers").is_dir() and list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu(cached: Callable[..., ElmoTokenEmbedder], plain: ElmoTokenEmbedder) -> None:
    elmo = cached().cuda()
    first, second = elmo.layers(IDS.cuda()), elmo.layers(IDS.cuda())
    assert first.layers.is_cuda and first.mask.is_cuda and torch.equal(first.layers, second.layers)
    torch.testing.assert_close(first.layers.cpu(), plain.layers(IDS).layers, atol=2e-3, rtol=1e-3)
    assert torch.equal(cached().layers(IDS).layers, first.layers.cpu())


MISTAKES = [
    ({"state": "carry"}, "cache_dir must be null where state is carry: vectors then depend on other sentences"),
    ({"layer_norm": "batch"}, "cache_dir must be null where layer_norm is batch"),
    ({"state": "carry", "layer_norm": "batch"}, "where state is carry: .*; cache_dir .* where layer_norm is batch"),
    ({"cache_dir": 5}, "cache_dir must be null or a path, found 5"),
    ({"cache_dir": ""}, "cache_dir must be null or a path, found ''"),
    ({"cache_limit_gb": 0}, "cache_limit_gb must be a number above 0, found 0"),
    ({"cache_limit_gb": "all"}, "cache_limit_gb must be a number above 0, found 'all'"),
    ({"cache_limit_gb": None}, "cache_limit_gb must be a number above 0, found None"),
    (
        {"cache_directory": "x"},
        "unknown key 'cache_directory', known are .* precision, cache_dir, cache_limit_gb, archive",
    ),
]


@pytest.mark.parametrize(("changes", "message"), MISTAKES)
def test_what_does_not_go_together_is_refused(files: dict[str, str], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ElmoTokenEmbedder.from_params(Params({**files, "cache_dir": "layers", **changes}))


def test_in_python_the_same_is_refused(files: dict[str, str]) -> None:
    with pytest.raises(InputError, match="elmo: cache_dir must be null where state is carry"):
        ElmoTokenEmbedder(**files, cache_dir="layers", state="carry")
    with pytest.raises(InputError, match="elmo: cache_limit_gb must be a number above 0, found -1"):
        ElmoTokenEmbedder(**files, cache_dir="layers", cache_limit_gb=-1)
    assert ElmoTokenEmbedder(**files, cache_dir=None, state="carry", layer_norm="batch").cache is None
