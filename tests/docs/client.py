"""
Sends this command to `server.py`, whose socket is named by COMMAND_SERVER, and exits
with its status.
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(os.environ["COMMAND_SERVER"])
    request = {
        "argv": sys.argv[1:],
        "folder": os.getcwd(),
        "environment": dict(os.environ),
    }
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
    sys.exit((connection.recv(1) or b"\1")[0])
