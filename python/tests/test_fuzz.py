"""Anything at all as arguments, arrays on all devices that there are: an exception or a result, and no crash. A process of its own, so
that a crash is seen as one."""
import importlib
import random
import subprocess
import sys

import numpy as np

try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None
ON_GPU = torch is not None and torch.cuda.is_available()
CALLS = 500 if ON_GPU else 1500  # where each first loads kernels


def some_tensor(r):
    dtype = r.choice(["float64", "float32", "float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64"])
    shape = [r.choice([0, 1, 1, 2, 3, 5]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))]
    device = r.choice(["cuda"] * (4 if ON_GPU else 0) + ["cpu"] * 4 + ["meta"])
    x = torch.randint(0, 2 if r.random() < 0.5 else 100, shape, generator=torch.Generator().manual_seed(r.randrange(99))).to(getattr(torch, dtype)).to(device)
    if r.random() < 0.5:
        x = x[tuple(slice(None, None, r.choice([1, 2, 3])) for _ in shape)]
    if r.random() < 0.2:
        x = x.expand(3, *x.shape)
    if r.random() < 0.3 and x.dim():
        x = x.transpose(0, -1)
    if r.random() < 0.1 and x.is_complex():
        x = x.conj().imag
    if r.random() < 0.1 and x.is_floating_point():
        x = x.detach().requires_grad_()
    return x.to_sparse() if r.random() < 0.05 and device != "meta" else x


def some_array(r):
    if torch and r.random() < 0.4:
        return some_tensor(r)
    dtype = r.choice(["f8", "f8", "f8", "f4", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", ">f8", ">i4", "c16", "O", "U2", "M8[s]", "V3",
                      [("a", "i1"), ("b", "f8")], "g"])  # fmt: skip
    shape = tuple(r.choice([0, 1, 1, 2, 3, 5]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4, 33])))
    shape = shape if len(shape) < 5 else tuple(min(each, 1) for each in shape)
    x = np.zeros(shape, dtype)
    if x.dtype.kind in "fiu":
        x[...] = np.random.default_rng(r.randrange(99)).integers(0, 100, shape)
    if x.dtype.names:
        x = x["b"]
    if x.ndim and r.random() < 0.5:
        x = x[tuple(slice(None, None, r.choice([1, 2, -1, -3])) for _ in shape)]
    if r.random() < 0.2:
        x = np.broadcast_to(x, (3, *x.shape)) if x.ndim < 30 else x
    if r.random() < 0.3:
        x = x.T
    if r.random() < 0.2:
        x.flags.writeable = False
    if r.random() < 0.1 and x.dtype.itemsize > 1 and x.dtype.kind in "fiu" and x.size:
        raw = np.zeros(x.nbytes + 1, "u1")[1:]
        x = raw.view(x.dtype.newbyteorder("=")) if raw.nbytes % x.dtype.itemsize == 0 else x
    return x


def something(r):
    return r.choice([None, 0, -1, 5, 2**70, (0,), (0, 0), (1, -1), "f4", "i128", "sum", "error", "ignore", True, 1.5, float("nan"), [], [1.0], [[1]],
                     b"", b"abc", "x", {}, {1.5}, object(), np.float32, int, some_array(r), some_array(r), some_array(r), range(3)])  # fmt: skip


def use_table(r, arguments):
    import pyreduct

    x = arguments[0] if r.random() < 0.2 else some_array(r)
    operator = r.choice(["sum", "dot", "argmin", "argmin", ["mean", "max"], "var"])
    table = pyreduct.Table(operator, x.dtype if r.random() < 0.8 and isinstance(x, np.ndarray) else "f64", r.choice([0, 1, 5, 100]))
    other = pyreduct.Table(operator, table.dtype, r.choice([0, 1, 5]))
    ids = something(r) if r.random() < 0.2 else np.zeros(np.shape(x)[r.choice([0, 0, 1]) :], r.choice(["i4", "u8"]))
    where = something(r) if r.random() < 0.2 else r.choice([None, np.ones(np.shape(x)[-1:], bool)])
    change = r.choice([table.add, table.add, table.remove])
    change(x, ids, x if operator == "dot" else None, where=where, skip=r.random() < 0.3)
    mapping = something(r) if r.random() < 0.2 else r.choice([None, np.zeros(len(other), "i8")])
    table.merge(other, mapping).add_group(0, x, x if operator == "dot" else None)
    table.result(something(r) if r.random() < 0.2 else None, check=r.random() < 0.5)


def main(seed):
    import pyreduct

    r = random.Random(seed)
    names = [name for name in pyreduct.__all__ if callable(getattr(pyreduct, name)) and not isinstance(getattr(pyreduct, name), type)]
    keywords = ["sort", "axis", "dtype", "out", "keepdims", "where", "nan", "mode", "ddof", "weights", "ord", "check", "begins", "ends", "length", "offsets"]
    succeeded = 0
    for _ in range(CALLS):
        name = r.choice([*names, "Accumulator", "add", *["table"] * 8])
        first = some_array(r) if r.random() < 0.8 else something(r)
        arguments = [first] + [something(r) for _ in range(r.choice([0, 0, 0, 0, 0, 1, 2]))]
        options = {r.choice(keywords): something(r) for _ in range(r.choice([0, 0, 1, 2]))}
        try:
            if name == "Accumulator":
                r.choice([pyreduct.Accumulator, pyreduct.Table]).from_bytes(bytes(r.randrange(256) for _ in range(r.randrange(90))))
            elif name == "table":
                use_table(r, arguments)
            elif name == "add":
                pyreduct.Accumulator(r.choice(["sum", "dot", "argmin", "minmax"]), r.choice(["f8", "f64", "i8", "bool"])).add(*arguments[:2], where=something(r)).result()
            else:
                getattr(pyreduct, name)(*arguments, **options)
            succeeded += 1
        except (TypeError, ValueError, OverflowError, AttributeError, IndexError, BufferError, pyreduct.Error):
            pass
        except RuntimeError as error:
            if "Boolean value of Tensor" not in str(error):  # as PyTorch says of a tensor in a flag's place
                raise
    if ON_GPU:
        torch.cuda.synchronize()  # which tells of what kernels did
    print(succeeded)


def test_fuzz():
    for seed in (1, 2):
        done = subprocess.run([sys.executable, "-W", "ignore", "-X", "faulthandler", __file__, str(seed)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) > CALLS // 20


if __name__ == "__main__":
    main(int(sys.argv[1]))
