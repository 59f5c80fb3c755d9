"""
Runs `elmo-tasks`, `allennlp` and `python` commands in forks of one process that has
imported everything: importing AllenNLP, and what a training imports at its first update
and at its end, takes seconds, a fork a few milliseconds.

A client (`client.py`) connects to the Unix socket, sends its argv, folder, environment
and standard streams, and receives the exit status.
"""

import json
import os
import runpy
import socket
import socketserver
import sys
import traceback

# What is not used here is for the forks.
import cached_path  # type: ignore[import-untyped]  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import torch._dynamo  # noqa: F401
from allennlp.commands import main as allennlp
from allennlp.common.plugins import import_plugins

from elmo_tasks.cli.main import main as elmo_tasks


class Handler(socketserver.BaseRequestHandler):
    """In a fork: run one command on the client's streams, and send its status."""

    def handle(self) -> None:
        message, streams, _, _ = socket.recv_fds(self.request, 1 << 20, 3)
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        # The server's own stdout may be a file, which a pipe is not.
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        request = json.loads(message)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        status = 1
        try:
            run(request["argv"])
            status = 0
        except SystemExit as end:
            status = status_of(end)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            self.request.sendall(bytes([status]))


def status_of(end: SystemExit) -> int:
    """The exit status; a message is printed, as Python does at its end."""
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    sys.stderr.write(f"{end.code}\n")
    return 1


def run(argv: list[str]) -> None:
    sys.argv = argv
    if argv[0] == "python":
        sys.path.insert(0, os.getcwd())
        runpy.run_path(argv[1], run_name="__main__")
    elif argv[0] == "allennlp":
        allennlp(prog=argv[0])
    else:
        elmo_tasks()


class Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    pass


if __name__ == "__main__":
    import_plugins()
    with Server(sys.argv[1], Handler) as server:
        server.serve_forever()
