"""What a new user sees first: an import by another Python, and a Python without numpy."""

import pathlib
import subprocess
import sys

import tenon

PACKAGE = pathlib.Path(tenon.__file__).parent


def _last_line_of_error(program, folder):
    ran = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    return ran.stderr.splitlines()[-1]


def _copy_of_the_beginning(tmp_path, *modules):
    """A folder to run in, whose package has these compiled modules and what an import reads first."""
    package = tmp_path / "tenon"
    package.mkdir()
    for name in ("__init__.py", "_other_python.py"):
        (package / name).write_text((PACKAGE / name).read_text(encoding="utf-8"), encoding="utf-8")
    for name in modules:
        (package / name).write_bytes(b"")
    return tmp_path


def test_import_by_another_python(tmp_path):
    folder = _copy_of_the_beginning(tmp_path, "_C.cpython-27-x86_64-linux-gnu.so")
    message = _last_line_of_error("import tenon", folder)
    version = f"this is Python {sys.version_info.major}.{sys.version_info.minor}, {sys.executable}"
    assert message.startswith(f"ImportError: tenon in {folder / 'tenon'} was built for another Python")
    assert "_C.cpython-27-x86_64-linux-gnu.so" in message
    assert version in message


def test_import_of_the_sources(tmp_path):
    message = _last_line_of_error("import tenon", _copy_of_the_beginning(tmp_path))
    assert message.startswith("ImportError: tenon in ")
    assert "has no compiled module. Run ./tenon build python" in message


def test_import_of_a_module_that_does_not_load(tmp_path):
    folder = _copy_of_the_beginning(tmp_path, "_C.so")
    assert "_C.so: file too short" in _last_line_of_error("import tenon", folder)


def test_numpy_is_missing(tmp_path):
    program = "import sys; sys.modules['numpy'] = None; import tenon; tenon.ones(2).numpy()"
    assert _last_line_of_error(program, tmp_path) == (
        f"RuntimeError: Numpy is not available: {sys.executable} has no module numpy"
    )
