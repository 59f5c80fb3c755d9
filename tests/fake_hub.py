"""
A server on this machine that answers as the Hugging Face hub does, as far as models are
uploaded to it and downloaded from it.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.utils import reset_sessions

COMMIT = "0" * 40


class FakeHub(ThreadingHTTPServer):
    """The files of repositories, by `OWNER/NAME` and their names; what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.commits: list[dict[str, Any]] = []
        self.tokens = set[str]()
        self.refuses = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: FakeHub

    def log_message(self, *arguments: Any) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        self._resolve()

    def do_GET(self) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        repositories = self.server.repositories
        if parts[:2] == ["api", "models"] and "tree" in parts:
            files = repositories["/".join(parts[2:4])]
            listed = []
            for name, content in files.items():
                oid = hashlib.sha1(content).hexdigest()
                size = len(content)
                listed.append({"type": "file", "path": name, "size": size, "oid": oid})
            self._json(listed)
        elif "resolve" in parts:
            self._resolve()
        elif parts[:2] == ["api", "models"] and "/".join(parts[2:4]) in repositories:
            name = "/".join(parts[2:4])
            siblings = []
            for file, content in repositories[name].items():
                siblings.append({"rfilename": file, "size": len(content)})
            self._json({"id": name, "sha": COMMIT, "siblings": siblings})
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.tokens.add(str(self.headers.get("Authorization")))
        if self.server.refuses:
            self._send(403, b'{"error": "you may not write here"}')
        elif self.path == "/api/repos/create":
            self._create(json.loads(body))
        elif self.path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            modes = []
            for file in files:
                modes.append({"path": file["path"], "uploadMode": "regular"})
                modes[-1]["shouldIgnore"] = False
            self._json({"files": modes})
        elif "/branch/" in self.path:
            self._json({})
        elif "/commit/" in self.path:
            self._commit(body)
        else:
            self._send(404, b"{}")

    def _create(self, asked: dict[str, Any]) -> None:
        name = asked["name"]
        if asked.get("organization"):
            name = f"{asked['organization']}/{name}"
        self.server.repositories.setdefault(name, {})
        self._json({"url": f"{self.server.address}/{name}"})

    def _commit(self, body: bytes) -> None:
        name = "/".join(self.path.split("/")[3:5])
        written: dict[str, Any] = {"path": self.path, "files": []}
        for line in body.splitlines():
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                written["summary"] = value["summary"]
            if item["key"] == "deletedFile":
                del self.server.repositories[name][value["path"]]
            if item["key"] == "file":
                content = base64.b64decode(value["content"])
                self.server.repositories[name][value["path"]] = content
                written["files"].append(value["path"])
        self.server.commits.append(written)
        url = f"{self.server.address}/{name}/commit/{COMMIT}"
        self._json({"commitOid": COMMIT, "commitUrl": url})

    def _resolve(self) -> None:
        owner, name, _, _, file = self.path.partition("?")[0].strip("/").split("/", 4)
        content = self.server.repositories.get(f"{owner}/{name}", {}).get(file)
        if content is None:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        tag = f'"{hashlib.sha1(content).hexdigest()}"'
        self._send(200, content, {"ETag": tag, "X-Repo-Commit": COMMIT})

    def _json(self, answer: Any) -> None:
        self._send(200, json.dumps(answer).encode())

    def _send(
        self, status: int, content: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def fake_hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub, which huggingface_hub takes for the real one; its cache is in a folder."""
    server = FakeHub()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
    for name, value in (
        ("constants.ENDPOINT", server.address),
        ("constants.HF_HUB_CACHE", str(folder)),
        ("constants.HF_TOKEN_PATH", str(folder / "token")),
        ("constants.HF_HUB_DISABLE_XET", True),
        ("constants.HF_HUB_OFFLINE", False),
        ("file_download.HUGGINGFACE_CO_URL_TEMPLATE", template),
    ):
        monkeypatch.setattr(f"huggingface_hub.{name}", value)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    # Connections that are kept from a test where the hub was offline stay offline.
    reset_sessions()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
