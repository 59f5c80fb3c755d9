"""An opened model -> a repository of the Hugging Face hub, with a model card."""

import tempfile
from pathlib import Path

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.card import ADDRESS, CardSettings
from elmo_tasks.elmo.models.saving import (
    read_with,
    require_no_other,
    save_model,
    warn_of_kept,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import Format
from elmo_tasks.formats.fetching.fetch import HUB
from elmo_tasks.system.run_names import CARD_FILE


def push_model(
    layers: Layers,
    repo_id: str,
    *,
    chosen: Format | None,
    about: CardSettings,
    token: str | bool | None,
    private: bool | None,
    commit_message: str,
    revision: str | None,
    create_pr: bool,
) -> str:
    """
    Upload the files of a model and its card in one commit to a repository, which is
    made if it is not there, and return the address of the commit. A README.md of the
    repository stays, unless `about` says something. For the other arguments see
    `Elmo.push_to_hub`. Raises `InputError` if the hub refuses, cannot be reached, or
    the repository has another model.
    """
    from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "model"
        save_model(layers, folder, chosen=chosen, about=about, name=repo_id)
        card = folder / CARD_FILE
        text = card.read_text("utf-8").replace(ADDRESS, f"{HUB}{repo_id}")
        card.write_text(text, "utf-8")
        api = HfApi(token=token)
        try:
            name = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
            if revision is not None:
                api.create_branch(name, branch=revision, exist_ok=True)
            present = api.list_repo_files(name, revision=revision)
            written = [path.name for path in folder.iterdir()]
            require_no_other(present, written, read_with(layers), f"{HUB}{name}")
            if about.is_empty and CARD_FILE in present:
                card.unlink()
                warn_of_kept(f"{HUB}{name}/{CARD_FILE}", layers.ancestry)
            done = api.upload_folder(
                repo_id=name,
                folder_path=folder,
                commit_message=commit_message,
                revision=revision,
                create_pr=create_pr,
            )
        except InputError:
            raise
        except Exception as error:  # the hub's errors have many types
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(
                f"cannot push to the hub: {reason[:300]}",
                file=f"{HUB}{repo_id}",
                hint="`hf auth login`, HF_TOKEN or token=... allows to write",
            ) from None
    return str(done.commit_url)
