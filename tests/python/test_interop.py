"""tenon.interop, where the other library is."""

import os
import pathlib
import subprocess

import pytest
import tenon

HERE = pathlib.Path(__file__).resolve().parent
ORACLE = HERE.parents[1] / "build" / "venv-oracle" / "bin" / "python"


@pytest.mark.skipif(not ORACLE.exists(), reason="there is no build/venv-oracle with PyTorch: ./tenon setup --oracle")
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_operators_in_another_library(library, tmp_path):
    environment = {**os.environ, "TENON_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([ORACLE, "-B", HERE / f"interop_{library}.py"], capture_output=True, text=True, env=environment)
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
    x_sliced = np.arange(8.0)[::2]
    aten.mul_(x_sliced, 2)
    assert x_sliced.tolist() == [0, 4, 8, 12]
    with pytest.raises(AttributeError, match="no operator 'aten::nothing'"):
        aten.nothing
