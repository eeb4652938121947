"""Weights and repositories from the network: fetched once, verified, kept in a cache (docs/hub.md).

Weights are data. A repository's hubconf.py is code: list(), help() and load() run it, and only once the user trusts it.
"""

import contextlib
import importlib.util
import os
import sys

from tenon import _hub
from tenon._hub import (
    HttpError as HttpError,
    HubError as HubError,
    TransportError as TransportError,
    get_dir as get_dir,
)
from tenon.serialization import load as _load_file

_HUBCONF = "hubconf.py"


def _get(*args):
    from tenon import _https  # which loads Python's ssl

    return _https.get(*args)


if not _hub.has_curl:
    _hub.set_transport(_get)


def set_dir(d):
    """Sets the folder that downloads are kept in; an empty one undoes it."""
    _hub.set_dir(os.fspath(d))


def _folder(repo, source, trust_repo, force_reload, skip_validation, verbose):
    if trust_repo not in (True, False, None, "check"):
        raise ValueError(f"tenon.hub: trust_repo must be True, False or 'check', got {trust_repo!r}")
    # Not given is "check": what nobody said yes to is not run.
    trust = "yes" if trust_repo is True else "no" if trust_repo is False else "check"
    name = os.path.abspath(os.path.expanduser(repo)) if source == "local" else repo
    return _hub.get_repository(name, source, trust, force_reload, skip_validation, verbose)


@contextlib.contextmanager
def _imports_from(folder):
    """Modules beside a repository's hubconf.py can be imported; another repository's of the same names are others."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        inside = os.path.join(os.path.realpath(folder), "")
        for name, module in [*sys.modules.items()]:
            file = getattr(module, "__file__", None)
            if file and os.path.realpath(file).startswith(inside):
                del sys.modules[name]


def _hubconf(folder):
    """The repository's hubconf.py, run anew."""
    path = os.path.join(folder, _HUBCONF)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"tenon.hub: there is no {_HUBCONF} in {folder}")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    with _imports_from(folder):
        spec.loader.exec_module(module)
    missing = [name for name in getattr(module, "dependencies", []) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"tenon.hub: Missing dependencies: {', '.join(missing)}, which {path} asks for")
    return module


def _entry_points(module):
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def _entry_point(module, name):
    function = getattr(module, name, None) if isinstance(name, str) else None
    if not callable(function) or name.startswith("_"):
        import difflib

        near = difflib.get_close_matches(str(name), _entry_points(module), 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(_entry_points(module)) or 'none'}"
        raise RuntimeError(f"tenon.hub: Cannot find callable {name} in {module.__file__}{hint}")
    return function


def list(github, force_reload=False, skip_validation=False, trust_repo="check", verbose=True, *, source="github"):
    """The names of a repository's entry points: the public functions and classes of its hubconf.py, which is run.

    github: "owner/name" or "owner/name:ref"; a folder's path with source="local".
    trust_repo: True: it is trusted from now on; False: asks each time; "check", the default: asks if it is not trusted yet.
    Without a terminal nobody is asked and the answer is no: HubError "Untrusted repository".
    """
    return _entry_points(_hubconf(_folder(github, source, trust_repo, force_reload, skip_validation, verbose)))


def help(github, model, force_reload=False, skip_validation=False, trust_repo="check", *, source="github"):
    """The docstring of an entry point; arguments as list() has them."""
    return _entry_point(
        _hubconf(_folder(github, source, trust_repo, force_reload, skip_validation, True)), model
    ).__doc__


def load(
    repo_or_dir,
    model,
    *args,
    source="github",
    trust_repo="check",
    force_reload=False,
    verbose=True,
    skip_validation=False,
    **kwargs,
):
    """What the entry point `model` of a repository gives for *args and **kwargs; other arguments as list() has them."""
    folder = _folder(repo_or_dir, source, trust_repo, force_reload, skip_validation, verbose)
    function = _entry_point(_hubconf(folder), model)
    with _imports_from(folder):
        return function(*args, **kwargs)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Downloads to the path `dst`, which is replaced once all bytes are there and right.

    hash_prefix: what the file's SHA-256 must begin with, 8 to 64 digits.
    """
    _hub.download_url_to_file(url, os.path.expanduser(os.fspath(dst)), hash_prefix or "", progress)


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    """The file at a URL, fetched once and then read from the cache by tenon.load, which executes nothing.

    check_hash: compares its SHA-256 with the digits in its name, as in "lenet-0123abcd.pt".
    """
    path = _hub.cached_file(url, os.fspath(model_dir or ""), file_name or "", check_hash, progress)
    return _load_file(path, map_location, weights_only=weights_only)
