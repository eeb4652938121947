#!/usr/bin/env python3
"""Writes the files of data/ that no PyTorch of today makes, from those that fixtures.py wrote. Needs
nothing but Python."""

import io
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
WHEN = (1980, 1, 1, 0, 0, 0)


def records(name):
    """Names without the folder, and contents."""
    with zipfile.ZipFile(DATA / name) as archive:
        return {i.filename.split("/", 1)[1]: archive.read(i) for i in archive.infolist()}


def write_zip(name, contents, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(DATA / name, "w", method) as archive:
        for record, data in contents:
            info = zipfile.ZipInfo("archive/" + record, WHEN)
            info.compress_type = method
            archive.writestr(info, data)


def deflated():
    """Compressed as any zip tool does."""
    write_zip("deflated.pt", records("checkpoint.pt").items(), zipfile.ZIP_DEFLATED)


def big_endian():
    """As a big-endian machine writes dtypes.pt."""
    contents = records("dtypes.pt")
    # Bytes per number: complex ones are two each.
    widths = [1, 1, 2, 4, 8, 2, 2, 4, 8, 4, 8, 1]
    for key, width in enumerate(widths):
        data = contents[f"data/{key}"]
        contents[f"data/{key}"] = b"".join(data[i : i + width][::-1] for i in range(0, len(data), width))
    contents["byteorder"] = b"big"
    write_zip("big_endian.pt", contents.items())


def old_order():
    """As PyTorch before 2.1 wrote twelve.pt: keys as text, no byteorder, no alignment record."""
    contents = records("twelve.pt")
    keys = sorted(name for name in contents if name.startswith("data/"))
    write_zip("old_order.pt", [(name, contents[name]) for name in ["data.pkl", *keys, "version"]])


def no_crc():
    """As torch.save writes with set_crc32_options(False): checksums are 0."""
    data = bytearray((DATA / "one.pt").read_bytes())
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 16 : at + 20] = bytes(4)
        at += 4
    at = 0
    while (at := data.find(b"PK\x07\x08", at)) >= 0:
        data[at + 4 : at + 8] = bytes(4)
        at += 4
    (DATA / "no_crc.pt").write_bytes(data)


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


def legacy_view():
    """As PyTorch 0.3 and older wrote two tensors whose storages were parts of one storage."""

    def tensor(view):
        return (
            b"ctorch._utils\n_rebuild_tensor\n(("
            + text("storage")
            + b"ctorch\nFloatStorage\n"
            + text("77")
            + text("cpu")
            + b"K\x06"
            + view
            + b"tQK\x00K\x02\x85K\x01\x85tR"
        )

    def view(key, offset):
        return b"(" + text(key) + b"K" + bytes([offset]) + b"K\x03t"

    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    out = b"".join(pickle.dumps(v, 2) for v in (0x1950A86A20F9469CFC6C, 1001, system))
    out += b"\x80\x02](" + tensor(view("78", 0)) + tensor(view("79", 3)) + tensor(view("78", 0)) + tensor(b"N") + b"e."
    out += pickle.dumps(["77"], 2)
    out += struct.pack("<q6f", 6, *range(6))
    (DATA / "legacy_view.pt").write_bytes(out)


def tar():
    """The members of PyTorch 0.1's files, empty."""
    with tarfile.open(DATA / "tar.pt", "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in ("storages", "tensors", "pickle"):
            info = tarfile.TarInfo(name)
            info.size = 0
            archive.addfile(info, io.BytesIO())


if __name__ == "__main__":
    deflated()
    big_endian()
    old_order()
    no_crc()
    legacy_view()
    tar()
