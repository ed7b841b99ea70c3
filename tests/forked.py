"""Starts commands without the seconds that it takes to import torch.

    python -P forked.py                    the server: has the libraries, and stratkit's modules
    python -I -S forked.py SOCKET M ...    runs main() of module M in a process forked by the server

M may be a script instead, by a name that ends in .py.

A command that starts others finds a `python` by which they are forked too, beside the socket; who
has that on the PATH has scripts forked.

The server prints the path of its socket and ends when its stdin does. The socket's folder is the
server's own: copies of whoever started it come and go (multiprocessing), and none may delete it.

That process has the descriptors, folder, environment and limit of files of the second command,
which passes SIGINT, SIGTERM and SIGHUP on to it and ends as it ends; when the second command is
killed, that process is killed too.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import sys
import threading
import weakref

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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


PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Takes the place of Python; other words than a script's or a command's are Python's own.
PYTHON = """#!/bin/sh
forked() {{ exec {python} -I -S {script} {socket} "$@"; }}
case $1 in
*.py) forked "$@" ;;
-P)
    module=${{3##* from }}
    if [ "$module" != "$3" ] && [ "$4" = {root} ]; then
        shift 4
        forked "${{module%% import *}}" "$@"
    fi
    ;;
esac
exec {python} "$@"
"""


def connect(path: str, module: str, arguments: list[str], **more: object) -> socket.socket:
    """Has the command run here; `more` says what else than here, and on which descriptors. The
    server answers with the process's number, and when it has ended with its exit status. When the
    connection is closed before, the process is killed."""
    descriptors = more.pop("descriptors", (0, 1, 2))
    order = {
        "module": module,
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "largest file": resource.getrlimit(resource.RLIMIT_FSIZE),
        **more,
    }
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # The socket's path may be longer than the system takes.
    folder = os.open(os.path.dirname(path), os.O_PATH)
    server.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    os.close(folder)
    socket.send_fds(server, [json.dumps(order).encode()], descriptors)
    return server


def ask(path: str, module: str, arguments: list[str]) -> int:
    """Has the command run; returns its exit status, or ends by the signal that it ended by."""
    with connect(path, module, arguments) as server:
        os.closerange(0, 2)  # nobody shall think that this reads or writes
        process = int(server.recv(16))
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: pass_on(process, number))
        status = int(server.recv(16))
        for number in PASSED_ON:  # what comes now comes too late, and changes no status
            signal.signal(number, signal.SIG_IGN)
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def pass_on(process: int, number: int) -> None:
    """Sends the signal on. The process may have ended, and its status be on its way."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def serve(folder: str) -> dict:
    """Waits for orders until stdin ends; returns with each of them, in a process of its own."""
    path = os.path.join(folder, "server")
    running: dict[int, tuple[int, socket.socket]] = {}  # by what tells of its end (pidfd)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        os.chdir(folder)  # its path may be longer than the system takes
        listener.bind("server")
        listener.listen()
        print(path, flush=True)
        while True:
            clients = {client: process for process, client in running.values()}
            ready = select.select([listener, sys.stdin, *clients, *running], [], [])[0]
            for one in ready:
                if one in clients:  # it has gone
                    os.kill(clients[one], signal.SIGKILL)
                elif one in running:
                    end(one, *running.pop(one))
            if sys.stdin in ready:
                break
            if listener in ready:
                client, _ = listener.accept()
                message, descriptors, _, _ = socket.recv_fds(client, 1 << 20, 3)
                if not message:  # it was killed before it could say anything
                    client.close()
                    continue
                process = os.fork()
                if process == 0:
                    for number, descriptor in enumerate(descriptors):
                        os.dup2(descriptor, number)
                    for left in (listener, client, *clients):
                        left.close()
                    for descriptor in (*descriptors, *running):
                        os.close(descriptor)
                    return json.loads(message)
                with contextlib.suppress(OSError):  # it has gone: that shows as its end
                    client.send(str(process).encode())
                for descriptor in descriptors:
                    os.close(descriptor)
                running[os.pidfd_open(process)] = process, client
    for process, _ in running.values():
        os.kill(process, signal.SIGKILL)
    shutil.rmtree(folder)
    sys.exit()


def end(pidfd: int, process: int, client: socket.socket) -> None:
    """Tells who asked for the process how it ended."""
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(pidfd)
    with client, contextlib.suppress(OSError):  # who has gone needs no answer
        client.send(str(status).encode())


def become(order: dict, python: str) -> None:
    """Makes this process what the order says; what it starts by this `python` is forked too."""
    sys.executable = python
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


def write_python(folder: str) -> str:
    """The file that takes the place of Python; its path."""
    names = {"python": sys.executable, "script": os.path.abspath(__file__), "root": ROOT}
    names["socket"] = os.path.join(folder, "server")
    path = os.path.join(folder, "python")
    with open(path, "w") as script:
        script.write(PYTHON.format(**{name: shlex.quote(it) for name, it in names.items()}))
    os.chmod(path, 0o755)
    return path


def import_rooms() -> None:
    """All modules of stratkit but commands that start at once, and what is for other libraries."""
    import stratkit

    for _, name, _ in pkgutil.walk_packages(stratkit.__path__, "stratkit."):
        if not name.endswith(".__main__") and not name.startswith("stratkit.adapters"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def freeze() -> None:
    """Leaves the libraries' objects alone in every process: to collect garbage, or to finalize at
    the end what is torch's, is to copy most of the server's memory."""
    gc.collect()
    gc.freeze()
    for finalizer in weakref.finalize._registry:
        finalizer.atexit = False


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(ask(sys.argv[1], sys.argv[2], sys.argv[3:]))

    import shlex
    import shutil
    import tempfile

    sys.path.insert(0, ROOT)
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):  # whoever needs it will say so
            importlib.import_module(name)
    import_rooms()
    folder = tempfile.mkdtemp()
    if sys.dont_write_bytecode:  # then every start would compile all modules again
        sys.dont_write_bytecode, sys.pycache_prefix = False, folder
    freeze()
    python = write_python(folder)
    order = serve(folder)
    become(order, python)
    try:
        if order["module"].endswith(".py"):
            sys.path.insert(0, os.path.dirname(os.path.abspath(order["module"])))
            runpy.run_path(order["module"], run_name="__main__")
            leave(0)
        importlib.import_module(order["module"]).main()
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
        leave(1 if isinstance(left.code, str) else left.code or 0)
