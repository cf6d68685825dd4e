"""Carries the batches of a `program` property to the Python process that started kir.

It speaks the protocol of examples/scorer on its standard streams, and to the address in
KIR_ASK says one line of JSON (secret, name of the property, total, ingredients) and then the
same lines.
"""

import json
import os
import socket
import sys


def main() -> None:
    """Connect, and pass lines on until there are no more."""
    address = os.environ.get("KIR_ASK", "")
    if not address:
        sys.exit("this objective is a function of a Python process: sample it from there")
    if address.isdigit():
        connection = socket.create_connection(("127.0.0.1", int(address)))
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(address)
    names = os.environ.get("KIR_INGREDIENTS")
    hello = {"secret": os.environ["KIR_ASK_SECRET"], "name": sys.argv[1], "total": int(os.environ["KIR_TOTAL"]),
             "ingredients": json.loads(names) if names else None}
    connection.sendall(json.dumps(hello).encode() + b"\n")
    answers = connection.makefile("rb")
    for line in sys.stdin.buffer:
        connection.sendall(line)
        answer = answers.readline()
        if not answer.endswith(b"\n"):
            sys.exit("the Python process answers no more")
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
