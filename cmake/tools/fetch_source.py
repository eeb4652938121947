#!/usr/bin/env python3
"""Fetches a source package of the Python package index with pip, whose settings hold: index, proxy, cache.

    fetch_source.py NAME VERSION SHA256 FOLDER

Unpacks it into FOLDER/NAME-VERSION, unless it is there. FOLDER/NAME-VERSION.tar.gz is used if it exists, so a machine that cannot
download needs only this file. A package with another digest is an error.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile


def download(name, version, sha256, archive, scratch):
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-binary", name, "--require-hashes", "--requirement", requirements, "--dest", scratch]
    subprocess.run(command, check=True)
    os.replace(scratch / archive.name, archive)


def main():
    name, version, sha256, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    target, archive = folder / f"{name}-{version}", folder / f"{name}-{version}.tar.gz"
    if target.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    scratch = pathlib.Path(tempfile.mkdtemp(dir=folder))
    try:
        if not archive.exists():
            download(name, version, sha256, archive, scratch)
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != sha256:
            sys.exit(f"{archive}: the SHA-256 digest must be {sha256}, got {found}; remove the file")
        with tarfile.open(archive) as package:
            package.extractall(scratch, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        # At once, as other build trees may look for it now.
        if not target.is_dir():
            os.replace(scratch / target.name, target)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
