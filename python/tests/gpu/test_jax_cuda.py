"""JAX's arrays on a CUDA device: they are waited for, and results go back there."""
import numpy as np
import pytest
from devices import package

jax = package("jax", lambda jax: len(jax.devices("gpu")), optional=True)
import jax.numpy as jnp

import pyreduct

GPU = jax.devices("gpu")[0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int32", "uint32", "bool"])
def test_arrays(dtype):
    x = jax.device_put((jnp.arange(2400).reshape(2, 30, 40) % 7).astype(dtype), GPU)
    exact = np.asarray(x).astype("f8")
    for axis in (None, 1, (0, 2)):
        result = pyreduct.sum(x, axis)
        assert isinstance(result, jax.Array) and result.devices() == {GPU}
        assert np.array_equal(np.asarray(result).astype("f8"), pyreduct.sum(exact, axis).astype(np.asarray(result).dtype).astype("f8"))
    assert pyreduct.argmax(x, 0).devices() == {GPU}


def test_what_is_not_ready():
    x = jax.device_put(jnp.ones((2048, 2048)), GPU)
    for _ in range(5):
        y = x
        for _ in range(10):
            y = (y @ x) / 2048  # which is still computed when the sum is asked for
        assert float(pyreduct.sum(y)) == 2048 * 2048


def test_segments_and_errors():
    x = jax.device_put(jnp.arange(6.0), GPU)
    bounds = jax.device_put(jnp.array([0, 2, 6]), GPU)
    assert pyreduct.segment_sum(x, bounds).tolist() == [1.0, 14.0]
    assert pyreduct.group_sum(x, jax.device_put(jnp.array([0, 1, 0, 1, 0, 1]), GPU), 2).tolist() == [6.0, 9.0]
    with pytest.raises(ValueError):
        pyreduct.segment_sum(x, bounds + 1)
    with pytest.raises(TypeError, match="host memory"):
        pyreduct.sum(x, out=x)
