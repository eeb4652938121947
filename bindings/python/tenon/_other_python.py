"""The error of an import by a Python that the compiled module was not built for."""

import pathlib
import sys
from importlib.machinery import EXTENSION_SUFFIXES


def explained(error):
    """An ImportError that says which Python is needed; error itself if a fitting module is there."""
    folder = pathlib.Path(__file__).parent
    if any((folder / f"_C{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
        return error
    this = f"this is Python {sys.version_info.major}.{sys.version_info.minor}, {sys.executable}"
    built = sorted(path.name for path in folder.glob("_C.*.so"))
    if not built:
        text = f"tenon in {folder} has no compiled module. Run ./tenon build python and put build/release/python on PYTHONPATH"
    else:
        text = (
            f"tenon in {folder} was built for another Python: it has {', '.join(built)}; {this}. Run the Python that it "
            "was built with (in the source tree build/venv/bin/python), or install tenon for this one with pip install ."
        )
    return ImportError(text, name="tenon._C", path=str(folder))
