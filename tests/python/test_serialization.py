"""save and load."""

import collections
import errno
import io
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile

import pytest
import tenon


def test_round_trip(tmp_path):
    x = tenon.randn(3)
    tensors = [x, x]
    tensors.append(tensors)
    value = {
        "t": x, "list": tensors, "tuple": (1, -(10**30), 2.5, 1j, "ä", b"b", bytearray(b"c"), None, True), "set": {1, 2},
        "ordered": collections.OrderedDict(a=1), "dtype": tenon.float64, "device": tenon.device("cpu"), "size": x.shape,
    }  # fmt: skip
    path = tmp_path / "x.pt"
    buffer = io.BytesIO()
    for where in (path, str(path), buffer):
        tenon.save(value, where)
        if where is buffer:
            buffer.seek(0)
        back = tenon.load(where)
        assert back["tuple"] == value["tuple"] and type(back["ordered"]) is collections.OrderedDict
        assert back["list"][0] is back["list"][1] is back["t"] and back["list"][2] is back["list"]
        assert back["t"].tolist() == x.tolist() and back["dtype"] is tenon.float64 and back["size"] == x.shape
        assert back["set"] == {1, 2} and back["device"] == tenon.device("cpu")


def test_views_share_memory_again():
    x = tenon.arange(6)
    buffer = io.BytesIO()
    tenon.save([x, x[2:4]], buffer)
    buffer.seek(0)
    a, b = tenon.load(buffer)
    b[0] = 9
    assert a.tolist() == [0, 1, 9, 3, 4, 5]


def test_what_cannot_be_saved_or_is_damaged_is_an_error(tmp_path):
    class Mine:
        pass

    with pytest.raises(TypeError, match="Mine"):
        tenon.save({"a": Mine()}, tmp_path / "x.pt")
    assert not (tmp_path / "x.pt").exists()
    (tmp_path / "y.pt").write_bytes(b"nothing of the kind")
    with pytest.raises(RuntimeError, match="y.pt"):
        tenon.load(tmp_path / "y.pt")
    with pytest.raises(TypeError):
        tenon.save(1, 2)


class Short(io.RawIOBase):
    """Takes few bytes at once."""

    def __init__(self):
        self.data, self.flushed = b"", 0

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data[:100])
        return min(len(data), 100)

    def flush(self):
        self.flushed = len(self.data)


@pytest.mark.parametrize("zipped", [True, False])
def test_all_is_written_to_files(lib, zipped):
    options = {"_use_new_zipfile_serialization": zipped}
    with tempfile.NamedTemporaryFile() as f:
        lib.save(lib.ones(2), f, **options)
        assert lib.load(f.name).tolist() == [1, 1]
    with pytest.raises(OSError) as error, open("/dev/full", "wb") as full:
        lib.save(lib.ones(2), full, **options)
    assert error.value.errno == errno.ENOSPC


@pytest.mark.parametrize("zipped", [True, False])
def test_files_that_take_few_bytes_at_once(zipped):
    f = Short()
    tenon.save(tenon.arange(1000), f, _use_new_zipfile_serialization=zipped)
    assert f.flushed == len(f.data) and tenon.load(io.BytesIO(f.data)).tolist() == list(range(1000))

    class Full(io.RawIOBase):
        def write(self, data):
            return None

    with pytest.raises(BlockingIOError):
        tenon.save(1, Full())

    class Cut(io.BytesIO):
        def write(self, data):
            return super().write(data[:5])

    with pytest.raises(OSError, match="took 5 of"):
        tenon.save(1, Cut())


def test_several_legacy_checkpoints_in_one_stream(lib, tmp_path):
    with open(tmp_path / "x", "w+b") as f:
        f.write(b"head")
        for i in range(3):
            lib.save({"x": lib.full((3,), float(i))}, f, _use_new_zipfile_serialization=False)
        pickle.dump("end", f)
        f.seek(4)
        assert [lib.load(f)["x"].tolist() for _ in range(3)] == [[0] * 3, [1] * 3, [2] * 3]
        assert pickle.load(f) == "end"


def test_files_of_other_kinds():
    data = io.BytesIO()
    tenon.save(tenon.ones(2), data)

    class Reader:
        def __init__(self, kind):
            self.kind = kind

        def read(self):
            return self.kind(data.getvalue())

    for kind in (bytes, bytearray, memoryview):
        assert tenon.load(Reader(kind)).tolist() == [1, 1]
    with pytest.raises(TypeError, match='mode "rb"'):
        tenon.load(io.StringIO("text"))
    with pytest.raises(TypeError):
        tenon.save(1, io.StringIO())


def test_texts_and_numbers_of_all_kinds(lib):
    value = {"\ud800": ["a\udcffb", "ä😀\0", 10**5, -(2**63), 2**63, -(10**600), 0, -1, 255, -129]}
    buffer = io.BytesIO()
    lib.save(value, buffer)
    buffer.seek(0)
    assert lib.load(buffer) == value


def test_large_numbers():
    buffer = io.BytesIO()
    tenon.save([10**5000, -(10**5000)], buffer)
    buffer.seek(0)
    assert tenon.load(buffer) == [10**5000, -(10**5000)]


def test_paths(tmp_path):
    for name in (b"plain.pt", "ümlaut.pt".encode(), b"\xff\xfe.pt"):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))
        tenon.save(tenon.ones(2), path)
        assert tenon.load(path).tolist() == [1, 1] and os.path.exists(path)
    with pytest.raises(ValueError, match="null byte"):
        tenon.save(1, str(tmp_path / "a\0b"))
    assert not (tmp_path / "a").exists()
    for name in ("none.pt", os.fsdecode(b"\xff.pt")):
        with pytest.raises(FileNotFoundError, match="No such file"):
            tenon.load(tmp_path / name)
        with pytest.raises(RuntimeError, match="Parent directory"):
            tenon.save(1, tmp_path / name / "x.pt")
    for key in ("\ud800", os.fsdecode(b"\xff.pt")):
        x = tenon.zeros(4, dtype=tenon.int32)
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            tenon.save({key: [x, x.view(tenon.float32)]}, tmp_path / "y.pt")


# ---- places ----


@pytest.mark.parametrize("zipped", [True, False])
def test_map_location_is_a_function(lib, zipped):
    buffer = io.BytesIO()
    lib.save({"a": lib.arange(4.0), "b": lib.ones(2, dtype=lib.int8)}, buffer, _use_new_zipfile_serialization=zipped)
    seen = []

    def stay(storage, location):
        seen.append((storage.nbytes(), storage.device.type, location))
        return storage

    for function in (
        stay,
        lambda storage, location: storage,
        lambda storage, location: None,
        lambda storage, location: storage.cpu(),
    ):
        buffer.seek(0)
        back = lib.load(buffer, map_location=function)
        assert back["a"].tolist() == [0, 1, 2, 3] and back["b"].tolist() == [1, 1]
    assert sorted(seen) == [(2, "cpu", "cpu"), (16, "cpu", "cpu")]


def test_map_location_with_a_function_that_fails(tmp_path):
    path = tmp_path / "x.pt"
    tenon.save(tenon.ones(2), path)
    for wrong in (lambda s, l: 1 / 0, lambda s: s, lambda s, l: 3):
        with pytest.raises((ZeroDivisionError, TypeError)):
            tenon.load(path, map_location=wrong)
    with pytest.raises(RuntimeError, match="gave a storage of 3 bytes, expected 8"):
        tenon.load(path, map_location=lambda s, l: tenon.UntypedStorage(3))
    with pytest.raises(RuntimeError, match="gave a storage of 1 bytes, expected 8"):
        tenon.load(path, map_location=lambda s, l: s[:1])
    assert tenon.load(path, map_location=lambda s, l: s.to(device="meta")).is_meta
    assert tenon.load(path, map_location="meta").is_meta and tenon.load(path, map_location={"cpu": "meta"}).is_meta
    with pytest.raises(
        RuntimeError, match="don't know how to restore data location of .*UntypedStorage .tagged with nowhere"
    ):
        tenon.load(path, map_location="nowhere")
    with pytest.raises(TypeError, match="map_location"):
        tenon.load(path, map_location=3.5)


def test_packages(tmp_path):
    path = tmp_path / "x.pt"
    code = f"""
import tenon
from tenon.serialization import default_restore_location, location_tag, register_package
special = tenon.tensor([1.0, 2.0])
register_package(5, lambda s: "special" if s is special.untyped_storage() else None, lambda s, tag: s.clone() if tag == "special" else None)
assert location_tag(special.untyped_storage()) == "special" and location_tag(tenon.ones(1).untyped_storage()) == "cpu"
tenon.save([special, tenon.ones(1)], {str(path)!r})
seen = []
back = tenon.load({str(path)!r}, map_location=lambda s, tag: seen.append(tag))
assert seen == ["special", "cpu"] and back[0].tolist() == [1, 2]
assert default_restore_location(special.untyped_storage(), "special").tolist() == special.untyped_storage().tolist()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(RuntimeError, match="tagged with special"):
        tenon.load(path)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "int16", "float32"])
def test_big_endian_files(dtype):
    buffer = io.BytesIO()
    tenon.save(
        [tenon.tensor([1, 2, 3]).to(getattr(tenon, dtype)), tenon.tensor([1, 2, 3]).to(getattr(tenon, dtype))[1:]],
        buffer,
    )
    swapped = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(swapped, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            if "/data/" in name:
                size = getattr(tenon, dtype).itemsize
                data = b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))
            new.writestr(name, data)
    swapped.seek(0)
    a, b = tenon.load(swapped)
    assert a.to(tenon.int64).tolist() == [1, 2, 3] and b.to(tenon.int64).tolist() == [2, 3]


def test_code_in_a_file_is_not_executed(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/executed",)

    path = tmp_path / "evil.pt"
    path.write_bytes(pickle.dumps(Evil(), protocol=2))
    with pytest.raises(Exception):
        tenon.load(path)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("zip_file", [True, False])
def test_nothing_in_a_file(lib, zip_file, tmp_path):
    file = io.BytesIO()
    lib.save(None, file, _use_new_zipfile_serialization=zip_file)
    lib.save(None, tmp_path / "none.pt", _use_new_zipfile_serialization=zip_file)
    file.seek(0)
    assert lib.load(file) is None and lib.load(tmp_path / "none.pt") is None
