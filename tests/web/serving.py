"""A server in its own process, and requests to it."""

import http.client
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from tests.archives.make import STORED
from tests.tiny import ROOT

ODD_NAME = 'a ("b") %c\\'
"""A name that has to be escaped in paths."""


class Reply(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int
    errors: IO[str]
    """What it has written to stderr."""

    def send(
        self, path: str, body: Any = None, method: str | None = None, **headers: str
    ) -> Reply:
        """
        GET, or POST with a body: bytes, an iterator (chunked) or what is sent as JSON.
        """
        verb = "GET"
        if body is not None:
            verb = "POST"
            headers = {"Content-Type": "application/json"} | headers
            if not isinstance(body, bytes | Iterator):
                body = json.dumps(body).encode()
        with closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        ) as connection:
            connection.request(method or verb, path, body, headers)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())


@contextmanager
def serving(*arguments: object) -> Iterator[Server]:
    """`elmo-tasks serve` at a free port."""
    command = [sys.executable, "-m", "elmo_tasks", "serve", "--port", "0"]
    command += [str(argument) for argument in arguments]
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            while line and not line.startswith("{"):
                line = process.stdout.readline()
            port = int(json.loads(line)["url"].rstrip("/").rpartition(":")[2])
            yield Server(process, port, errors)
        finally:
            process.kill()


def changed(archive: Path, out: Path, part: str, change: Callable[[str], str]) -> Path:
    """A copy of an archive with another content of the file of this name."""
    with tarfile.open(archive) as old, tarfile.open(out, "w:gz") as new:
        for member in old.getmembers():
            content = old.extractfile(member)
            if content is None:
                continue
            data = content.read()
            if member.name.endswith(part):
                data = change(data.decode()).encode()
                member.size = len(data)
            new.addfile(member, BytesIO(data))
    return out


def synthetic(task: str, folder: Path) -> Path:
    """A stored archive, as if it had been validated on the synthetic corpus."""

    def validated(config: str) -> str:
        path = f"fixtures/miniworld/{task}/validation.txt"
        return json.dumps({**json.loads(config), "validation_data_path": path})

    name = f"{task}.tar.gz"
    return changed(STORED / "1" / name, folder / name, "config.json", validated)
