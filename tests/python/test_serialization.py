"""save and load."""

import collections
import io

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


def test_code_in_a_file_is_not_executed(tmp_path):
    import os
    import pickle

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/executed",)

    path = tmp_path / "evil.pt"
    path.write_bytes(pickle.dumps(Evil(), protocol=2))
    with pytest.raises(Exception):
        tenon.load(path)
    assert not (tmp_path / "executed").exists()
