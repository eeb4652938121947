"""tenon.hub, with folders and file:// in the network's place."""

import hashlib
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
    assert "perceptron" in hub.list(repository, source="local") and "_hidden" not in hub.list(repository, source="local")
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
