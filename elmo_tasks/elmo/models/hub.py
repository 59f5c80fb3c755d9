"""An opened model -> a repository of the Hugging Face hub, with a model card."""

import tempfile
from pathlib import Path

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.card import ADDRESS, CardSettings
from elmo_tasks.elmo.models.saving import OF_MODELS, save_model
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
    made if it is not there, and return the address of the commit. Files of another
    model are removed there; a README.md stays, unless `about` says something. For the
    other arguments see `Elmo.push_to_hub`. Raises the errors of huggingface_hub.
    """
    from huggingface_hub import HfApi

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "model"
        save_model(layers, folder, chosen=chosen, about=about, name=repo_id)
        card = folder / CARD_FILE
        text = card.read_text("utf-8").replace(ADDRESS, f"{HUB}{repo_id}")
        card.write_text(text, "utf-8")
        api = HfApi(token=token)
        name = api.create_repo(repo_id, private=private, exist_ok=True).repo_id
        if revision is not None:
            api.create_branch(name, branch=revision, exist_ok=True)
        if about.is_empty and api.file_exists(name, CARD_FILE, revision=revision):
            card.unlink()
        done = api.upload_folder(
            repo_id=name,
            folder_path=folder,
            commit_message=commit_message,
            revision=revision,
            create_pr=create_pr,
            delete_patterns=list(OF_MODELS),
        )
    return str(done.commit_url)
