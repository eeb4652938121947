"""tenon.hub, with folders and file:// in the network's place."""

import fcntl
import hashlib
import http.server
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile

import pytest
import tenon
from tenon import hub

HUBCONF = '''
dependencies = ["json"]
from helper_of_the_repository import WIDTH

def perceptron(num_classes=3):
    """A perceptron."""
    import tenon
    return tenon.nn.Linear(WIDTH, num_classes)

def _hidden():
    pass
'''


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    hub.set_dir(tmp_path / "cache")
    monkeypatch.delattr("sys.stdin")  # nobody to ask
    yield
    hub.set_dir("")


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "hubconf.py").write_text(HUBCONF)
    (folder / "helper_of_the_repository.py").write_text("WIDTH = 4\n")
    return folder


def test_a_folder(repository):
    assert "perceptron" in hub.list(repository, source="local") and "_hidden" not in hub.list(
        repository, source="local"
    )
    assert hub.help(str(repository), "perceptron", source="local") == "A perceptron."
    model = hub.load(repository, "perceptron", source="local", num_classes=5)
    assert model(tenon.ones(2, 4)).shape == (2, 5)
    with pytest.raises(RuntimeError, match="Cannot find callable perceptrn .*did you mean 'perceptron'"):
        hub.load(repository, "perceptrn", source="local")
    with pytest.raises(RuntimeError, match="Cannot find callable _hidden"):
        hub.load(repository, "_hidden", source="local")
    with pytest.raises(FileNotFoundError, match="hubconf.py"):
        hub.list(repository.parent, source="local")
    (repository / "hubconf.py").write_text("dependencies = ['no_such_package_of_anybody']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package_of_anybody"):
        hub.list(repository, source="local")


def test_code_runs_only_when_it_is_trusted(repository, tmp_path):
    archive = tmp_path / "server" / "acme" / "models" / "archive" / "v1.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("models-v1/hubconf.py", HUBCONF + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
        files.writestr("models-v1/helper_of_the_repository.py", "WIDTH = 2\n")
    where = {"source": f"file://{tmp_path}/server", "skip_validation": True}
    for trust in (None, False, "check"):
        with pytest.raises(hub.HubError, match="Untrusted repository"):
            hub.load("acme/models:v1", "perceptron", trust_repo=trust, **where)
    with pytest.raises(ValueError, match="trust_repo must be"):
        hub.load("acme/models:v1", "perceptron", trust_repo="yes", **where)
    assert not (tmp_path / "ran").exists()
    assert hub.load("acme/models:v1", "perceptron", trust_repo=True, verbose=False, **where).weight.shape == (3, 2)
    assert (tmp_path / "ran").exists() and hub.get_dir() == str(tmp_path / "cache")
    # Trusted and in the cache, without another word.
    archive.unlink()
    assert hub.load("acme/models:v1", "perceptron", 7, **where).weight.shape == (7, 2)


def test_weights(tmp_path):
    tenon.save({"w": tenon.arange(3)}, tmp_path / "w.pt")
    digits = hashlib.sha256((tmp_path / "w.pt").read_bytes()).hexdigest()[:8]
    (tmp_path / "w.pt").rename(tmp_path / f"w-{digits}.pt")
    url = f"file://{tmp_path}/w-{digits}.pt"
    assert hub.load_state_dict_from_url(url, check_hash=True, progress=False)["w"].tolist() == [0, 1, 2]
    assert (tmp_path / "cache" / "checkpoints" / f"w-{digits}.pt").exists()
    hub.download_url_to_file(url, tmp_path / "copy.pt", progress=False)
    assert tenon.load(tmp_path / "copy.pt")["w"].tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        hub.download_url_to_file(url, tmp_path / "other.pt", hash_prefix="00000000", progress=False)
    assert not (tmp_path / "other.pt").exists()
    with pytest.raises(ValueError):
        hub.download_url_to_file("ftp://example.org/w.pt", tmp_path / "other.pt")
    with pytest.raises(ValueError, match='must begin with http://, https:// or file://, got "w.pt"'):
        hub.load_state_dict_from_url("w.pt", progress=False)


class Server(http.server.BaseHTTPRequestHandler):
    content = bytes(range(256)) * 1000

    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/file.bin")
            self.end_headers()
        elif self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/file.bin")
            self.end_headers()
        elif self.path == "/round":
            self.send_response(302)
            self.send_header("Location", "/round")
            self.end_headers()
        elif self.path in ("/file.bin", "/short.bin"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.content)))
            self.end_headers()
            first = len(self.server.asked) == 1
            self.wfile.write(self.content[:1000] if self.path == "/short.bin" and first else self.content)
        else:
            self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server that is asked by Python's own http, as where the library has no libcurl."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    serving.asked = []
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    hub._hub.set_transport(hub._get)
    yield serving
    hub._hub.set_transport(None if hub._hub.has_curl else hub._get)
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_downloads_without_libcurl(server, tmp_path):
    where, digest = f"http://127.0.0.1:{server.server_port}", hashlib.sha256(Server.content).hexdigest()
    for name, asked in [("file.bin", 1), ("moved", 2), ("short.bin", 2)]:
        server.asked.clear()
        hub.download_url_to_file(f"{where}/{name}", tmp_path / name, hash_prefix=digest, progress=False)
        assert (tmp_path / name).read_bytes() == Server.content and len(server.asked) == asked
    with pytest.raises(hub.HttpError, match="404"):
        hub.download_url_to_file(f"{where}/nothing", tmp_path / "nothing", hash_prefix=digest, progress=False)
    with pytest.raises(RuntimeError, match="invalid hash value"):
        hub.download_url_to_file(f"{where}/file.bin", tmp_path / "wrong", hash_prefix="0" * 64, progress=False)
    for name, text in [("away", "a redirect to ftp://"), ("round", "too many redirects")]:
        with pytest.raises(hub.TransportError, match=text):
            hub.download_url_to_file(f"{where}/{name}", tmp_path / name, hash_prefix=digest, progress=False)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".partial" and p.is_file()) == [
        "file.bin",
        "moved",
        "short.bin",
    ]


def test_a_server_that_is_not_there(server, tmp_path):
    from tenon import _https

    with http.server.HTTPServer(("127.0.0.1", 0), Server) as other:
        port = other.server_port
    message, transient = _https.get(f"http://127.0.0.1:{port}/x", [], 1.0, 1.0, 1, 3, lambda *_: True, lambda _: True)
    assert "refused" in message and transient
    server.asked.clear()
    message, _ = _https.get(
        f"http://me:word@127.0.0.1:{port}/x?key=1", [], 1.0, 1.0, 1, 3, lambda *_: True, lambda _: True
    )
    assert message.startswith(f"[hub] http://127.0.0.1:{port}/x: ")  # without what may be secret
    seen = []
    headers = [("Accept", "a/b"), ("Authorization", "secret")]
    url = f"http://127.0.0.1:{server.server_port}/moved"
    assert (
        _https.get(url, headers, 5.0, 5.0, 1, 3, lambda *answer: seen.append(answer[:2]) or True, lambda _: False)
        is None
    )
    assert seen == [(200, f"http://127.0.0.1:{server.server_port}/file.bin")]
    assert all(headers["Authorization"] == "secret" for _, headers in server.asked)  # the same host may see it
    message, transient = _https.get(url, headers, 5.0, 5.0, 1, 0, lambda *_: True, lambda _: True)
    assert "too many redirects" in message and not transient


def test_headers_stay_with_their_host(server):
    from tenon import _https

    redirects = _https._Redirects(3)
    import urllib.request

    request = urllib.request.Request("https://a.example/x", headers={"Authorization": "secret", "Range": "bytes=5-"})
    assert "Authorization" not in dict(
        redirects.redirect_request(request, None, 302, "", {}, "https://b.example/x").header_items()
    )
    assert (
        dict(redirects.redirect_request(request, None, 302, "", {}, "https://b.example/x").header_items())["Range"]
        == "bytes=5-"
    )
    with pytest.raises(OSError, match="not followed from https"):
        redirects.redirect_request(request, None, 302, "", {}, "http://a.example/x")


def test_home_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for given, expected in [
        ("~", tmp_path),
        ("~/x", tmp_path / "x"),
        ("~root/x", pathlib.Path("~root/x").expanduser()),
    ]:
        hub.set_dir(given)
        assert hub.get_dir() == str(expected)
    hub.set_dir("")
    monkeypatch.setenv("TENON_HOME", "~/h")
    assert hub.get_dir() == str(tmp_path / "h" / "hub")
    (tmp_path / "from").write_bytes(b"text")
    hub.download_url_to_file(f"file://{tmp_path}/from", "~/to", progress=False)
    assert (tmp_path / "to").read_bytes() == b"text" and not (tmp_path / "~").exists()


DOWNLOAD = """
import signal, sys
from tenon import hub
# A shell's background jobs, and what they start, ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
if len(sys.argv) > 3:
    hub._hub.set_transport(hub._get)
print("begins", flush=True)
try:
    hub.download_url_to_file(sys.argv[1], sys.argv[2], hash_prefix="0" * 64, progress=False)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("what", ["lock", "answer", "answer without libcurl"])
def test_an_interrupt_is_heard(what, tmp_path):
    """Ctrl-C ends a program that waits for another's lock, or for an answer that does not come."""
    with socket.create_server(("127.0.0.1", 0)) as silent, open(tmp_path / "file.lock", "w") as lock:
        if what == "lock":
            fcntl.flock(lock, fcntl.LOCK_EX)
        else:
            os.unlink(lock.name)
        arguments = [f"http://127.0.0.1:{silent.getsockname()[1]}/file", str(tmp_path / "file")]
        arguments += ["python"] if what.endswith("libcurl") else []
        with subprocess.Popen(
            [sys.executable, "-c", DOWNLOAD, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "no_proxy": "127.0.0.1"},
        ) as program:
            assert program.stdout.readline() == "begins\n"
            if what == "lock":
                time.sleep(0.5)
            else:
                silent.accept()
            program.send_signal(signal.SIGINT)
            begin = time.monotonic()
            output = program.communicate(timeout=30)[0]
        assert output == "interrupted\n" and time.monotonic() - begin < 5
