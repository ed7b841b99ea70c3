"""Starts commands without the seconds that it takes to import torch.

    python -P forked.py                    the server: has the libraries, and nothing of stratkit
    python -I -S forked.py SOCKET M ...    runs main() of module M in a process forked by the server

The server prints the path of its socket and ends when its stdin does. The socket's folder is the
server's own: copies of whoever started it come and go (multiprocessing), and none may delete it.

That process has the descriptors, folder, environment and limit of files of the second command,
which passes SIGINT, SIGTERM and SIGHUP on to it and ends as it ends; when the second command is
killed, that process is killed too.
"""

import atexit
import contextlib
import importlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading

LIBRARIES = (
    "cffi",
    "click",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "msgspec",
    "numpy",
    "safetensors.numpy",
    "torch",
    "tqdm",
    "zstandard",
)


def ask(path: str, module: str, arguments: list[str]) -> int:
    """Has the command run; returns its exit status, or ends by the signal that it ended by."""
    order = {
        "module": module,
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "largest file": resource.getrlimit(resource.RLIMIT_FSIZE),
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(near(path))
        socket.send_fds(server, [json.dumps(order).encode()], [0, 1, 2])
        os.closerange(0, 2)  # nobody shall think that this reads or writes
        process = int(server.recv(16))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(process, number))
        status = int(server.recv(16))
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def near(path: str) -> str:
    """The socket's name from within its folder: its path may be longer than the system takes."""
    folder, name = os.path.split(path)
    os.chdir(folder)
    return name


def serve(folder: str) -> dict:
    """Waits for orders until stdin ends; returns with each of them, in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    path = os.path.join(folder, "server")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(near(path))
        listener.listen()
        print(path, flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            client, _ = listener.accept()
            with client:
                if os.fork() == 0:
                    listener.close()
                    return keep(client)
    shutil.rmtree(folder)
    sys.exit()


def keep(client: socket.socket) -> dict:
    """Begins the process of one order, in which this returns, and waits for its end."""
    message, descriptors, _, _ = socket.recv_fds(client, 1 << 20, 3)
    ended, end = os.pipe()
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(ended)
        os.close(end)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        return json.loads(message)
    client.send(str(child).encode())
    for descriptor in (0, 1, 2, *descriptors):
        os.close(descriptor)
    if client in select.select([client, ended], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    client.send(str(status).encode())
    os._exit(0)


def become(order: dict) -> None:
    """Makes this process what the order says."""
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    resource.setrlimit(resource.RLIMIT_FSIZE, order["largest file"])
    if order["largest file"][0] != resource.RLIM_INFINITY:
        sys.dont_write_bytecode = True  # Python before 3.12 leaves compiled modules cut off
    sys.stdin = open(0)  # noqa: SIM115
    sys.stdout = open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    sys.argv[1:] = order["arguments"]


def leave(status: int) -> None:
    """Ends as Python does, but does not take all objects down, which takes 0.3 s."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(ask(sys.argv[1], sys.argv[2], sys.argv[3:]))

    for name in LIBRARIES:
        with contextlib.suppress(ImportError):  # whoever needs it will say so
            importlib.import_module(name)
    folder = tempfile.mkdtemp()
    if sys.dont_write_bytecode:  # then every start would compile all modules again
        sys.dont_write_bytecode, sys.pycache_prefix = False, folder
    order = serve(folder)
    become(order)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        importlib.import_module(order["module"]).main()
    except SystemExit as end:
        leave(end.code or 0)
