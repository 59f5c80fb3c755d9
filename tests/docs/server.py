"""
Runs `allennlp` and `python` commands in forks of one process that has imported everything: importing AllenNLP takes ten
seconds, a fork a few milliseconds. Single-threaded, so forking is safe.

A client (`client.py`) connects to the Unix socket, sends its argv, folder, environment and standard streams, and
receives the exit status.
"""

import array
import json
import os
import runpy
import socket
import sys
import traceback
from collections.abc import Callable


def serve(path: str) -> None:
    """Accept commands on the Unix socket at `path` until the process is terminated."""
    import elmo_tasks.plugin  # noqa: F401

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            connection, _ = server.accept()
            with connection:
                if os.fork() == 0:
                    server.close()
                    _answer(connection)
            _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _answer(connection: socket.socket) -> None:
    """In the fork: run one command on the client's streams, send its status, and end this process."""
    message, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * 4))
    streams = array.array("i", ancillary[0][2][:12])
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    request = json.loads(message)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    status = 1
    try:
        status = _status_of(lambda: _run(request["argv"]))
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        connection.sendall(bytes([status]))
        os._exit(status)


def _run(argv: list[str]) -> None:
    from elmo_tasks import settings

    settings.apply_defaults()
    name = os.path.basename(argv[0])
    sys.argv = argv
    if name == "python":
        sys.path.insert(0, os.getcwd())
        runpy.run_path(argv[1], run_name="__main__")
    else:
        from allennlp.commands import main

        main(prog=name)


def _status_of(command: Callable[[], None]) -> int:
    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
