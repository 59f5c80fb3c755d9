"""
Ten trainings with other values of a config, by Optuna, which learns from their scores:

    pip install 'optuna>=4'
    python benchmarks/search.py

A failing trial stops the search. Run the script again to go on; its last line is the
command that trains the best model again.
"""

import json
import subprocess
from pathlib import Path

import optuna  # type: ignore[import-not-found]

CONFIG = "ner_elmo"
METRIC = "best_validation_f1"
TRIALS = 10
FOLDER = Path("out/search")


def score(trial: optuna.Trial) -> float:
    changes = {
        "model.elmo.cache_dir": str(FOLDER / "layers"),
        "model.elmo.dropout": trial.suggest_float("dropout", 0.0, 0.6),
        "model.elmo.l2": trial.suggest_float("l2", 1e-4, 1e-1, log=True),
        "trainer.optimizer.lr": trial.suggest_float("lr", 3e-4, 1e-2, log=True),
    }
    trial.set_user_attr("changes", json.dumps(changes))
    folder = FOLDER / f"trial{trial.number}"
    command = ["elmo-tasks", "train", CONFIG, "-s", str(folder)]
    command += ["-o", json.dumps(changes)]
    subprocess.run(command, check=True)
    metrics: dict[str, float] = json.loads((folder / "metrics.json").read_text())
    return metrics[METRIC]


FOLDER.mkdir(parents=True, exist_ok=True)
study = optuna.create_study(
    study_name=CONFIG,
    storage=f"sqlite:///{FOLDER}/study.db",
    load_if_exists=True,
    direction="maximize",
)
finished = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
study.optimize(score, n_trials=TRIALS - len(finished))
best = study.best_trial
print(f"{METRIC} {best.value:.3f}: elmo-tasks train {CONFIG}", end=" ")
print(f"-s out/best -o '{best.user_attrs['changes']}'")
