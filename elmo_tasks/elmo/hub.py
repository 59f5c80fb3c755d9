"""An opened model -> a repository of the Hugging Face hub, with a model card."""

import tempfile
from pathlib import Path
from typing import Any

from elmo_tasks.elmo.free_folders import files_in_the_way
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.model_card import PLACE, CardSettings
from elmo_tasks.elmo.model_files import resolve
from elmo_tasks.elmo.model_folders import read_beside
from elmo_tasks.elmo.saving import save_model
from elmo_tasks.elmo.source_types import BILM
from elmo_tasks.errors import InputError, needs
from elmo_tasks.formats.bilm_files import Format
from elmo_tasks.formats.fetch import HUB
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.run_names import CARD_FILE, CONFIG


def push_model(
    layers: Layers,
    repo_id: str,
    *,
    chosen: Format | None,
    about: CardSettings,
    token: str | bool | None,
    **options: Any,
) -> str:
    """
    Upload the files of a model and its card in one commit to a repository, which is
    made if it is not there, and return the address of the commit. A README.md of the
    repository stays, unless `about` says something. `options` are others of
    `Elmo.push_to_hub`. Raises `InputError` if the hub refuses, cannot be reached, or
    the repository has another model.
    """
    with needs("huggingface_hub"):
        from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "model"
        save_model(layers, folder, chosen=chosen, about=about, name=repo_id)
        card = folder / CARD_FILE
        text = card.read_text("utf-8").replace(PLACE, f"{HUB}{repo_id}")
        card.write_text(text, "utf-8")
        api = HfApi(token=token)
        try:
            return _upload(api, folder, repo_id, keep_card=about.is_empty, **options)
        except InputError:
            raise
        except Exception as error:  # the hub's errors have many types
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(
                f"cannot push to the hub: {reason[:300]}",
                file=f"{HUB}{repo_id}",
                hint="`huggingface-cli login`, HF_TOKEN or token=... allows to write",
            ) from None


def _upload(
    api: Any,
    folder: Path,
    repo_id: str,
    *,
    keep_card: bool,
    private: bool | None,
    commit_message: str,
    revision: str | None,
    create_pr: bool,
) -> str:
    name = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
    if revision is not None:
        api.create_branch(name, branch=revision, exist_ok=True)
    present = api.list_repo_files(name, revision=revision)
    _require_free(api, name, folder, present, revision)
    ignored = []
    if keep_card and CARD_FILE in present:
        ignored.append(CARD_FILE)
    done = api.upload_folder(
        repo_id=name,
        folder_path=folder,
        commit_message=commit_message,
        revision=revision,
        create_pr=create_pr,
        ignore_patterns=ignored,
    )
    return str(done.commit_url)


def _require_free(
    api: Any, name: str, folder: Path, present: list[str], revision: str | None
) -> None:
    """
    Raises `InputError` if a repository has another model than the one in the folder,
    which would be read in its place or with it.
    """
    local = [path.name for path in folder.iterdir()]
    source = resolve(folder).kind

    def read_config() -> Any:
        file = api.hf_hub_download(name, CONFIG, revision=revision)
        return read_json(file, "the config of a model")

    further = []
    if source != BILM:
        further = read_beside(folder)
    in_the_way = files_in_the_way(present, source, local, read_config, read=further)
    if in_the_way is not None:
        raise InputError(
            f"expected a repository without {in_the_way}",
            file=f"{HUB}{name}",
            hint="name another, or remove them there",
        )
