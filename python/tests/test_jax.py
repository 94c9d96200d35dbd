"""JAX's arrays."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (make check-python has it)")
import jax.numpy as jnp

import pyreduct


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int32", "uint32", "bool"])
def test_arrays(dtype):
    x = (jnp.arange(24).reshape(2, 3, 4) % 7).astype(dtype)
    exact = np.asarray(x).astype("f8")
    for axis in (None, 1, (0, 2)):
        result = pyreduct.sum(x, axis)
        assert isinstance(result, jax.Array) and result.devices() == x.devices()
        assert np.array_equal(np.asarray(result).astype("f8"), pyreduct.sum(exact, axis))
    assert result.dtype == x.dtype or dtype in ("int8", "int32", "uint32", "bool")
    assert isinstance(pyreduct.argmax(x, 0), jax.Array)
    assert pyreduct.segment_sum(jnp.arange(4.0), jnp.array([0, 1, 4])).tolist() == [0.0, 6.0]


def test_refused():
    with pytest.raises(TypeError, match="may be written"):
        pyreduct.sum(jnp.ones((2, 2)), 0, out=jnp.zeros(2))
    with pytest.raises(TypeError, match="code 5"):
        pyreduct.sum(jnp.ones(2, "complex64"))
    with pytest.raises(TypeError, match="has no elements"):
        jax.jit(pyreduct.sum)(jnp.ones(2))
