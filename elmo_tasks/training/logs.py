"""What a training prints, and what it writes to `out.log`."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FORMAT = "%(asctime)s - %(levelname)s - %(name)s - %(message)s"


class _Quiet(logging.Handler):
    """On a full disk the run itself fails, with one line."""

    def handleError(self, record: logging.LogRecord) -> None: ...


class _FileHandler(_Quiet, logging.FileHandler): ...


class _StreamHandler(_Quiet, logging.StreamHandler): ...


@contextmanager
def logged(folder: Path, shown: str) -> Iterator[None]:
    """
    AllenNLP prints all that it logs, as with `all`. With `lines` stdout gets what this package logs, with `warnings`
    nothing; `out.log` still gets everything. AllenNLP's own handlers, which a training makes, are limited to warnings.
    """
    if shown == "all":
        yield
        return
    os.environ["ALLENNLP_LOG_LEVEL"] = "WARNING"
    file = _FileHandler(folder / "out.log")
    file.setFormatter(logging.Formatter(FORMAT))
    handlers: dict[str, list[logging.Handler]] = {"allennlp": [file], "elmo_tasks": [file]}
    if shown == "lines":
        handlers["elmo_tasks"].append(_StreamHandler(sys.stdout))
    levels = {name: logging.getLogger(name).level for name in handlers}
    for name, of_logger in handlers.items():
        logging.getLogger(name).setLevel(logging.INFO)
        for handler in of_logger:
            handler.addFilter(lambda record: record.levelno < logging.WARNING)  # AllenNLP's handlers have the others
            logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, of_logger in handlers.items():
            for handler in of_logger:
                logging.getLogger(name).removeHandler(handler)
            logging.getLogger(name).setLevel(levels[name])
        file.close()
