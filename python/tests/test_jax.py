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


MOST = 2**31 - 1


@pytest.mark.parametrize(
    "call",
    [
        lambda x: pyreduct.sum(x),
        lambda x: pyreduct.sum(x[None], 1, keepdims=True),
        lambda x: pyreduct.sumsq(x),
        lambda x: pyreduct.prod(jnp.stack([x[0], x[0]])),
        lambda x: pyreduct.dot(x, x),
        lambda x: pyreduct.several(x, ["max", "sum"]),
        lambda x: pyreduct.segment_sum(x, jnp.array([0, 2])),
        lambda x: pyreduct.group_sum(x, jnp.array([0, 0]), 1),
        lambda x: pyreduct.index_add(x * 0, jnp.array([1, 1]), x),
    ],
)
def test_integers_that_do_not_fit_32_bits(call):
    """They do not wrap where JAX has no more; where it has, and where they fit, they are right."""
    x = jnp.array([MOST, 1])
    with pytest.raises(OverflowError, match="does not fit [iu]32"):
        call(x)
    for result in jax.tree.leaves(call(x // 2**20)):
        assert result.dtype in (jnp.int32, jnp.uint32)
    with jax.enable_x64(True):
        for result in jax.tree.leaves(call(jnp.array([MOST, 1], jnp.int64))):
            assert isinstance(result, jax.Array) and result.dtype in (jnp.int64, jnp.uint64)


def test_results_of_64_bits():
    x = jnp.array([16777217, 16777217, 16777219])  # whose mean in f64 lies between two f32 and rounds to another one
    assert pyreduct.mean(x).dtype == jnp.float32 and pyreduct.mean(x) == pyreduct.mean(np.asarray(x), dtype="f32")
    assert int(pyreduct.norm(jnp.array([MOST, MOST]), 1)) == 2**32 - 2
    for result in (pyreduct.argmin(x), pyreduct.count_nonzero(x), pyreduct.count(x / 2), pyreduct.group_argmax(x, jnp.array([0, 0, 0]), 1), pyreduct.segment_argmax(x, jnp.array([0, 3]))):
        assert result.dtype == jnp.int32
    assert pyreduct.sum(x, dtype=jnp.int32) == 50331653 and pyreduct.sum(x, dtype="i128") == 50331653
    for dtype in ("f64", np.int64, "u64"):
        for call in (lambda: pyreduct.sum(x, dtype=dtype), lambda: pyreduct.group_sum(x, jnp.array([0, 0, 0]), 1, dtype=dtype)):
            with pytest.raises(TypeError, match="dtype: .64; .*jax_enable_x64"):
                call()
    out = np.zeros(3, "i8")
    assert pyreduct.sum(x[None], 0, out=out) is out and out.tolist() == x.tolist()
    with jax.enable_x64(True):
        assert pyreduct.mean(x).dtype == jnp.float64 and pyreduct.argmin(x).dtype == jnp.int64 and pyreduct.sum(x, dtype="f64").dtype == jnp.float64
    assert pyreduct.mean(x).dtype == jnp.float32


def test_refused():
    with pytest.raises(TypeError, match="may be written"):
        pyreduct.sum(jnp.ones((2, 2)), 0, out=jnp.zeros(2))
    with pytest.raises(TypeError, match="x: elements of complex64"):
        pyreduct.sum(jnp.ones(2, "complex64"))
    with pytest.raises(TypeError, match="x: elements of int4"):
        pyreduct.sum(jnp.ones(2, "int4"))
    with pytest.raises(TypeError, match="has no elements"):
        jax.jit(pyreduct.sum)(jnp.ones(2))
