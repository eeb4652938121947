"""tenon.interop, where the other library is."""

import os
import pathlib
import subprocess

import pytest
import tenon

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = HERE.parents[1] / "build" / "venv-oracle" / "bin" / "python"


@pytest.mark.skipif(not ORACLE.exists(), reason="there is no build/venv-oracle with PyTorch: ./tenon setup --oracle")
@pytest.mark.parametrize("library", ["torch", "torch_extension", "jax"])
def test_operators_in_another_library(library, tmp_path):
    environment = {**os.environ, "TENON_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [ORACLE, "-B", HERE / f"interop_{library}.py"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0 and done.stdout.endswith("agrees\n"), done.stdout + done.stderr


def test_operators_on_numpys_arrays():
    np = pytest.importorskip("numpy")
    from tenon.interop import numpy as interop

    aten = interop.register(tenon.ops.aten)
    x = np.arange(6.0).reshape(2, 3)
    assert aten.add(x, x, alpha=2).tolist() == (3 * x).tolist()
    assert isinstance(aten.relu(x), np.ndarray)
    values, indices = aten.max(x, 1)
    assert values.tolist() == [2, 5] and indices.dtype == np.int64
    assert aten.cat([x, x]).shape == (4, 3)
    # Views that a tensor cannot be over, and arrays that must not be written to, are copied.
    assert aten.add(x[::-1], 1).tolist() == (x[::-1] + 1).tolist()
    frozen = x.copy()
    frozen.flags.writeable = False
    assert aten.add(frozen, 1).tolist() == (x + 1).tolist()
    out = np.empty((2, 3))
    assert aten.add(x, 1, out=out) is out and out.tolist() == (x + 1).tolist()
    with pytest.raises(ValueError, match="out must be an array that can be written to"):
        aten.add(x, 1, out=frozen)
    # Lists of numbers are arrays, as in numpy, or lists if the operator takes a list.
    assert aten.add([1, 2], x[:, :2]).tolist() == ([1, 2] + x[:, :2]).tolist()
    assert aten.relu([[-1, 2], [3, -4]]).dtype == np.int64
    assert aten.add(x, [1.0, 2.0, 3.0], alpha=2).dtype == np.float64
    assert aten.sum(x, [0, 1]).tolist() == x.sum()
    with pytest.raises(TypeError, match="self"):
        aten.relu_([1.0, -1.0])
    with pytest.raises(TypeError, match="self"):
        aten.relu(["a"])
    # numpy's scalars, which reductions give, are arrays, or numbers where those are wanted.
    assert aten.add(x.sum(), x).tolist() == (15 + x).tolist()
    assert aten.add(x, np.float64(1), alpha=np.int64(3)).tolist() == (x + 3).tolist()
    swapped = x.astype(">f8")
    assert aten.add(swapped, 1).tolist() == (x + 1).tolist()
    # What is written to a copy reaches the array all the same.
    for view in (x.copy()[::-1], swapped.copy()):
        expected = (view * 2).tolist()
        assert aten.mul_(view, 2) is view and view.tolist() == expected
    with pytest.raises(ValueError, match="the array must be one that can be written to"):
        aten.mul_(frozen, 2)
    with pytest.raises(TypeError, match="masks of masked arrays"):
        aten.add(np.ma.masked_array(x, x > 2), 1)
    x_sliced = np.arange(8.0)[::2]
    aten.mul_(x_sliced, 2)
    assert x_sliced.tolist() == [0, 4, 8, 12]
    with pytest.raises(AttributeError, match="no operator 'aten::nothing'"):
        aten.nothing


def test_arrays_that_no_dtype_holds():
    np = pytest.importorskip("numpy")
    for array, name in [
        (np.array(["a"]), "str_"),
        (np.array([None]), "object_"),
        (np.zeros(2, "M8[s]"), "datetime64"),
        (np.zeros(2, "f4,f4"), "void"),
    ]:
        for make in (tenon.from_numpy, tenon.tensor, tenon.as_tensor):
            with pytest.raises(
                TypeError,
                match=f"can't convert np.ndarray of type numpy.{name}. The only supported types are: float64, ",
            ):
                make(array)
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        tenon.from_numpy(np.zeros(2, ">f8"))
