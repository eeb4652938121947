"""Stores by address: rendezvous(). Its addresses and texts are those of torch.distributed."""

import os
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

from tenon._distributed import FileStore, TCPStore

__all__ = ["rendezvous"]

_MINUTES = timedelta(minutes=30)


def rendezvous(url, rank=-1, world_size=-1, **kwargs):
    """An iterator whose first element is (store, rank, world_size), of env://, tcp://HOST:PORT or file:///PATH.

    rank and world_size may be in the address, `?rank=0&world_size=2`, and for env:// in RANK and WORLD_SIZE.
    """
    parts = urlparse(url)
    given = {name: int(values[0]) for name, values in parse_qs(parts.query).items() if name in ("rank", "world_size")}
    rank, world_size = given.get("rank", rank), given.get("world_size", world_size)
    makers = {"env": _of_environment, "tcp": _of_address, "file": _of_file}
    if parts.scheme not in makers:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    return makers[parts.scheme](parts, rank, world_size, kwargs.get("timeout") or _MINUTES)


def _error(scheme, text):
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {text}")


def _once(scheme, made):
    yield made
    raise RuntimeError(f"Unable to perform rerendezvous using {scheme}:// method")


def _checked(scheme, rank, world_size):
    for name, value in (("rank", rank), ("world size", world_size)):
        if value == -1:
            raise _error(scheme, f"{name} parameter missing")


def _of_environment(parts, rank, world_size, timeout):
    def variable(name):
        if not os.environ.get(name):
            raise _error("env", f"environment variable {name} expected, but not set")
        return os.environ[name]

    rank = int(variable("RANK")) if rank == -1 else rank
    world_size = int(variable("WORLD_SIZE")) if world_size == -1 else world_size
    address, port = variable("MASTER_ADDR"), int(variable("MASTER_PORT"))
    return _once("env", (TCPStore(address, port, world_size, rank == 0, timeout), rank, world_size))


def _of_address(parts, rank, world_size, timeout):
    if not parts.port:
        raise _error("tcp", "port number missing")
    _checked("tcp", rank, world_size)
    return _once("tcp", (TCPStore(parts.hostname, parts.port, world_size, rank == 0, timeout), rank, world_size))


def _of_file(parts, rank, world_size, timeout):
    if not parts.path:
        raise _error("file", "path missing")
    _checked("file", rank, world_size)
    return _once("file", (FileStore(parts.path, world_size), rank, world_size))
