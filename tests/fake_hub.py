"""A hub in memory in place of Hugging Face's, as far as this package asks it."""

from pathlib import Path

import pytest

from elmo_tasks.formats.fetching.fetch import fits_any


class FakeHub:
    """The files of repositories, by `OWNER/NAME` and their names."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.repositories: dict[str, dict[str, bytes]] = {}

    def __call__(self) -> "FakeHub":
        """As `HfApi` is constructed."""
        return self

    def model_info(self, name: str, *, revision: str | None, timeout: float) -> None:
        if name not in self.repositories:
            raise OSError(f"{name} did not answer within {timeout} s")

    def snapshot_download(
        self,
        name: str,
        *,
        revision: str | None,
        allow_patterns: list[str],
        local_files_only: bool = False,
    ) -> str:
        """A folder of a repository and revision, which keeps what was downloaded."""
        folder = self.cache / f"{name}@{revision}"
        files = self.repositories.get(name)
        if files is None or local_files_only:
            if not folder.exists():
                raise OSError(f"{name} is not in the cache")
            return str(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            if fits_any(file, allow_patterns):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_bytes(content)
        return str(folder)


def fake_hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """A hub without repositories, which keeps downloads in a folder."""
    hub = FakeHub(cache)
    monkeypatch.setattr("huggingface_hub.HfApi", hub)
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.snapshot_download)
    return hub
