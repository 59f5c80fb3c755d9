"""
Keys of URLs and login names stand in nothing that is written or printed.
"""

import gzip
import json
import sys
import tarfile
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import h5py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.cli.main import main
from elmo_tasks.errors import InputError, without_secrets
from tests.checks.mistakes import TOKENS
from tests.tiny import SAMPLES, bilm_files

HOME = "marked-home"
KEYS = ("SECRET",)


Command = Callable[..., tuple[int, str]]
"""
Calls a command in the home folder: its exit status, and all that it prints and logs.
"""


@pytest.fixture
def command(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Command:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.chdir(home)

    def call(*arguments: object) -> tuple[int, str]:
        caplog.clear()
        capfd.readouterr()
        status = 0
        try:
            main(list(map(str, arguments)))
        except SystemExit as end:
            status = 1
            sys.stderr.write(str(end.code))
        shown = capfd.readouterr()
        return status, shown.out + shown.err + caplog.text

    return call


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of all files of a folder, and of what is in their archives."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        yield str(path.relative_to(folder)), data
        if data.startswith(b"\x1f\x8b"):
            yield f"{path.name}, unpacked", gzip.decompress(data)
            with tarfile.open(path) as archive:
                for member in archive.getmembers():
                    owner = (member.uid, member.gid, member.uname, member.gname)
                    assert owner == (0, 0, "", "")
        if path.suffix == ".hdf5":
            with h5py.File(path) as file:
                yield f"{path.name}, attributes", repr(dict(file.attrs)).encode()


def assert_nothing(where: str, text: bytes) -> None:
    for mark in KEYS:
        place = text.find(mark.encode())
        assert place < 0, f"{where}: {text[max(0, place - 300) : place + 100]!r}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / HOME
    (home / "data").mkdir(parents=True)
    (home / "data/ner.txt").write_bytes(SAMPLES["ner"].read_bytes())
    (home / "in.jsonl").write_text('{"sentence": "Mira left ."}\n')
    (home / "in.txt").write_text("Mira left .\n")
    return home


@pytest.mark.slow
def test_a_training_with_keys_and_what_is_made_of_it(
    home: Path, serve: Callable[[Path], ThreadingHTTPServer], command: Command
) -> None:
    bilm_files(home.parent / "web")
    server = serve(home.parent / "web")
    address = f"http://SECRETNAME:SECRETWORD@127.0.0.1:{server.server_port}"
    files = {
        "options_file": f"{address}/options.json?sig=SECRETKEY",
        "weight_file": f"{address}/weights.hdf5?v=1&token=hf_SECRETKEYSECRETKEY",
    }
    overrides = {f"model.elmo.{key}": url for key, url in files.items()}
    overrides |= {"model.elmo.archive": False, "trainer.num_epochs": 1}
    overrides |= {
        f"{split}_data_path": str(home / "data/ner.txt")
        for split in ("train", "validation")
    }
    run, archive = home / "out/run", home / "out/run/model.tar.gz"
    call = ("train", "ner_elmo", "-s", run, "-o", json.dumps(overrides))
    options = ["--model", "+".join(files.values())]
    calls = [
        call,
        (*call, "--recover"),
        ("evaluate", archive, home / "data/ner.txt"),
        ("predict", archive, "in.jsonl", "--output-file", home / "out/p.jsonl"),
        ("elmo", home / "in.txt", home / "out/v.hdf5", *options),
        ("elmo", home / "in.txt", home / "out/m.hdf5", "--mix", archive, *options),
    ]
    for words in calls:
        status, printed = command(*words)
        assert status == 0, printed
        assert_nothing(f"printed by {words[0]}", printed.encode())
    url = files["weight_file"]
    for bad in (
        url.replace("weights", "gone"),
        url.replace("http", "ftp"),
        url.replace("127.0.0.1", "["),
        url.replace(f"127.0.0.1:{server.server_port}", "127.0.0.1:1"),
        url.replace("SECRETWORD", "SECRET/WORD"),
        "s3://SECRETNAME:SECRET/WORD@bucket/x?sig=SECRETKEY",
    ):
        model = f"{files['options_file']}+{bad}"
        words = ("elmo", "in.txt", "out/no.hdf5", "--model", model)
        status, printed = command(*words)
        assert status == 1 and "Traceback" not in printed
        assert_nothing("printed as error", printed.encode())
    for name, data in contents(home / "out"):
        assert_nothing(name, data)


@pytest.mark.slow
def test_the_logs_of_several_processes(home: Path, command: Command) -> None:
    """Which log each value of the config, until the address is found to be invalid."""
    url = "http://SECRETNAME:SECRETWORD@127.0.0.1/vectors.txt?sig=SECRETKEY"
    overrides = {
        "train_data_path": str(home / "data/ner.txt"),
        "validation_data_path": str(home / "data/ner.txt"),
        "distributed": {"cuda_devices": [-1, -1]},
        f"{TOKENS}.pretrained_file": url,
    }
    run = home / "out/run"
    status, printed = command("train", "ner", "-s", run, "-o", json.dumps(overrides))
    assert status == 1
    assert "vectors.txt" in (run / "out_worker0.log").read_text()
    assert_nothing("printed", printed.encode())
    for name, data in contents(run):
        assert_nothing(name, data)


@pytest.mark.slow
def test_a_local_bilm_is_found_from_other_folders(
    home: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its digest: neither the archive nor the run's folder has its path."""
    (home / "work").mkdir()
    bilm_files(home / "work/bilm")
    overrides = {
        "model.elmo.options_file": "work/bilm/options.json",
        "model.elmo.weight_file": str(home / "work/bilm/weights.hdf5"),
        "trainer.num_epochs": 1,
        "train_data_path": str(SAMPLES["ner"]),
        "validation_data_path": str(SAMPLES["ner"]),
    }
    call = ("train", "ner_elmo", "-s", "out/run", "-o", json.dumps(overrides))
    status, printed = command(*call)
    assert status == 0, printed
    for name, data in contents(home / "out"):
        assert_nothing(name, data)
    (home / "moved").mkdir()
    (home / "out/run/model.tar.gz").rename(home / "moved/a.tar.gz")
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    status, printed = command("predict", home / "moved/a.tar.gz", home / "in.jsonl")
    assert status == 0, printed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://ann:word@host/x", "http://host/x"),
        ("http://ann:wo/rd@host:80/x", "http://host:80/x"),
        ("s3://AKIA123:12/ab+c@bucket/x", "s3://bucket/x"),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("hf://owner/name@v1/file", "hf://owner/name@v1/file"),
        (f"https://h/x#sha256={'0' * 64}", f"https://h/x#sha256={'0' * 64}"),
        ("https://h/x;key=0123abcd/y", "https://h/x;key=~fe863cd3"),
        ("https://h/x#access_token=0123abcd", "https://h/x#access_token=~64eab070"),
        ("see https://h/page.html#a-heading", "see https://h/page.html#a-heading"),
        ("github_pat_11ABCDEFG0abcdefghijklmnop", "github_pat_..."),
        ('<a href="https://h/x?a=b">', '<a href="https://h/x?a=~3e23e816">'),
        ("token hf_abcdefghijklmnop ends", "token hf_... ends"),
        ("a?b=c and d@e.f", "a?b=c and d@e.f"),
        ("http://h/x?~0123abcd: no", "http://h/x?~0123abcd: no"),
        ("(http://h/x?a=~0123abcd).", "(http://h/x?a=~0123abcd)."),
        ("http://h/x?c2VjcmV0LXg=", "http://h/x?~f70dbfe2"),
    ],
)
def test_secrets_of_addresses(text: str, expected: str) -> None:
    assert without_secrets(text) == expected


@given(
    st.text("abz019%+/=._~-", min_size=6, max_size=20).filter(
        lambda text: (
            "=~" not in text  # which is how a hidden value begins
            and (not text.strip("~").isalnum() or len(text) > 12)
        )
    ),
    st.sampled_from(
        [
            "https://h/x?sig={}",
            "https://h/x?{}",
            "https://h/x?a=1&sig={}#sha256=00",
            'error: "https://h/x?sig={}" was refused',
            "(https://h/x?sig={})",
            "http://ann:p{}@h/x",
            "//ann:p{}@h/x",
            "https://h/x;key={}?a=b",
            "https://h/x#token={}",
            "https://h/x?sig={}#token=c",
            "s3://AKIA0:{}@bucket/x?region=y",
        ]
    ),
)
def test_no_value_of_an_address_stays(secret: str, form: str) -> None:
    text = form.replace("{}", secret)
    found = without_secrets(text)
    assert secret not in found.replace("sha256", "") and without_secrets(found) == found


@pytest.mark.parametrize("mark", list("\"'<>"))
def test_a_value_with_a_quote_or_bracket(mark: str) -> None:
    for form in ("https://h/x?sig=SE{}CRET", "https://h/x?sig={}SECRET"):
        for text in (form.format(mark), f'"{form.format(mark)}" was refused'):
            assert "CRET" not in without_secrets(text)


def test_no_part_of_a_long_key_stays() -> None:
    error = InputError(f"refused https://h/x?sig={'KEY' * 300} today")
    assert "KEY" not in str(error) and str(error).endswith("today")
