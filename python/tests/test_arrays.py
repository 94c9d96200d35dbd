"""Arrays of all kinds that need no other package than NumPy, and what is refused of them."""
import array
import ctypes
import gc
import mmap
import sys

import numpy as np
import pytest
from exact import same

import pyreduct
from pyreduct import Accumulator


def test_buffers(tmp_path):
    assert pyreduct.sum(array.array("f", [1, 2, 3])) == 6.0
    assert pyreduct.sum(b"abc") == 294
    assert pyreduct.max(memoryview(bytearray(b"abc"))) == 99
    assert pyreduct.sum((ctypes.c_double * 3)(1, 2, 3)) == 6.0
    (tmp_path / "data").write_bytes(np.arange(5.0).tobytes())
    with open(tmp_path / "data", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        view = memoryview(mapped).cast("d")
        assert pyreduct.sum(view) == 10
        view.release()
    rows = pyreduct.sum(memoryview(array.array("d", range(6))).cast("B").cast("d", (2, 3)), axis=1)
    assert isinstance(rows, memoryview) and rows.tolist() == [3.0, 12.0]
    assert pyreduct.sum([1.0, 2.0], keepdims=True) == [3.0]


def test_lists():
    assert pyreduct.sum([]) == 0 and pyreduct.sum(()) == 0
    assert type(pyreduct.sum([1, 2])) is int and type(pyreduct.sum([1, 2.0])) is float
    assert pyreduct.all([True, False]) is False and pyreduct.max([True, False]) is True
    assert pyreduct.sum([True, 2, 0.5]) == 3.5
    assert pyreduct.sum(range(10)) == 45 and pyreduct.mean(x / 2 for x in range(3)) == 0.5
    assert pyreduct.argmax([3, 5, 5]) == 1 and pyreduct.dot([1, 2], [3, 4]) == 11
    assert pyreduct.sum([2**62] * 4, dtype="i128") == 2**64
    with pytest.raises(OverflowError):
        pyreduct.sum([2**64])
    with pytest.raises(TypeError, match="str"):
        pyreduct.sum([1, "2"])
    with pytest.raises(TypeError):
        pyreduct.sum([[1, 2], [3, 4]])


BIG = 2**53 + 1  # an integer that no f64 is equal to


def test_lists_of_integers_of_numpy():
    """And of whatever else stands for an integer: exact, as Python's are."""
    class Mine:
        def __index__(self):
            return BIG

    for each in (np.int64, np.uint64, np.array, lambda _: Mine()):
        for numbers in ([each(BIG), np.int8(0)], (0, each(BIG))):
            for _ in range(2):
                total, least = pyreduct.sum(numbers), pyreduct.min(numbers)
                assert total == pyreduct.max(numbers) == BIG and type(total) is int and least == 0
    assert pyreduct.argmax([np.int64(BIG - 1), np.int64(BIG)]) == 1 and pyreduct.dot([np.int64(BIG), 1], [1, np.int32(0)]) == BIG
    assert pyreduct.group_by([np.int64(BIG), np.int64(BIG + 1)]).keys == [BIG, BIG + 1]
    assert pyreduct.group_sum([1.0, 2.0], [np.int64(1), np.uint8(0)], 2) == [2.0, 1.0]
    assert pyreduct.segment_sum([1.0, 2.0], [np.int32(0), np.int64(1), 2]) == [1.0, 2.0]
    assert pyreduct.sum([np.array(1.5), np.float32(2)]) == 3.5 and type(pyreduct.sum([np.float64(2), np.int64(1)])) is float
    with pytest.raises(OverflowError, match="x: an integer beyond 64 bits"):
        pyreduct.sum([np.uint64(2**63)])


def test_integers_are_not_rounded():
    for numbers in ([BIG, 0.5], [0.5, np.int64(BIG)], [0.5, -BIG], [0.5, 10**400]):
        for call in (pyreduct.sum, lambda x: pyreduct.dot([0.5, 1], x), Accumulator("sum").add, lambda x: pyreduct.average(np.ones(2), weights=x)):
            with pytest.raises(OverflowError, match="^(x|y|weights): the integer "):
                call(numbers)
    assert pyreduct.sum([2**60, 0.5, BIG - 1]) == 2.0**60 + 2.0**53


def test_numbers_that_are_added():
    state = Accumulator("sum", "f64").add(1).add(2.5).add(range(3)).add(map(int, "123")).add([np.int64(4), 5])
    assert state.result() == 21.5 and state.count == 10
    assert Accumulator("dot", "f64").add(2, 1.5).result() == 3 and Accumulator("sum", "i32").add(x for x in (1, 2)).result() == 3
    assert pyreduct.Table("sum", "f64", 2).add(range(3), iter([0, 1, 0])).result().tolist() == [2, 1]
    for kind, number, error in (
        ("f64", BIG, OverflowError),
        ("f32", [0.1, 2**24 + 1], OverflowError),
        ("i32", 2**31, OverflowError),
        ("f32", [1e300], OverflowError),
        ("u8", iter([-1]), OverflowError),
        ("i32", 1.5, TypeError),
    ):
        with pytest.raises(error, match=f"^x: .*expected numbers that {kind} can be"):
            Accumulator("sum", kind).add(number)


def test_list_that_changes():
    class Float:
        def __float__(self):
            values.clear()
            return 1.0

    values = [1.0, Float(), 2.0, 3.0]
    with pytest.raises(IndexError):
        pyreduct.sum(values)


def test_numpy_scalars():
    assert pyreduct.sum(np.float32(3)) == 3 and pyreduct.sum(np.array(2.5)) == 2.5
    assert type(pyreduct.sum(np.zeros(3, "f4"))) is np.float32
    assert type(pyreduct.argmin(np.zeros(3))) is np.int64
    assert type(pyreduct.any(np.zeros(3))) is np.bool_
    assert type(pyreduct.sum(np.zeros(3, bool))) is np.int64


def test_subclasses():
    assert pyreduct.sum(np.matrix([[1.0, 2.0]])) == 3
    assert pyreduct.sum(np.arange(4.0).view(type("Mine", (np.ndarray,), {}))) == 6
    with pytest.raises(TypeError, match="where=~x.mask"):
        pyreduct.sum(np.ma.array([1.0, 2.0], mask=[0, 1]))


class Interface:
    def __init__(self, x, **changes):
        self.x, self.__array_interface__ = x, {**x.__array_interface__, **changes}


def test_array_interface():
    x = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    same(pyreduct.sum(Interface(x), axis=0), pyreduct.sum(x, axis=0))


class Capsule:
    """What has DLPack alone, as it was before versions or is now."""

    def __init__(self, x, versioned):
        self.x, self.versioned = x, versioned

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword")
        return self.x.__dlpack__(stream=stream, **options)


@pytest.mark.parametrize("versioned", [False, True] if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else [False])
def test_dlpack(versioned):
    x = np.arange(24.0).reshape(2, 3, 4)[:, ::-1, ::2]
    before = sys.getrefcount(x)
    for axis in (None, 0, (0, 2)):
        same(pyreduct.sum(Capsule(x, versioned), axis=axis), pyreduct.sum(x, axis=axis))
    for dtype in ("i1", "u2", "i4", "u8", "f2", "f4", "bool"):
        y = np.ones(3, dtype)
        same(pyreduct.sum(Capsule(y, versioned)), pyreduct.sum(y))
    gc.collect()
    assert sys.getrefcount(x) == before
    with pytest.raises(TypeError, match="x: elements of complex128"):
        pyreduct.sum(Capsule(np.zeros(2, complex), versioned))


VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Exporter:
    """Has DLPack as the array API's standard says, and remembers what it was asked."""

    def __init__(self, x, device=(1, 0)):
        self.x, self.device, self.asked = x, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked.append((stream, max_version, dl_device, copy))
        return self.x.__dlpack__(max_version=max_version, copy=copy) if VERSIONED else self.x.__dlpack__()


def test_dlpack_is_asked_by_the_standard():
    x = Exporter(np.arange(4.0))
    assert pyreduct.sum(x) == 6 and x.asked == [(None, (1, 1), None, None)]
    x = Exporter(np.arange(4.0), (2, 0))  # on a CUDA device, and nobody says when its data are ready: copied to the host
    assert pyreduct.sum(x) == 6 and x.asked == [(None, (1, 1), (1, 0), None)]
    x = Exporter(np.arange(4.0), (8, 0))
    with pytest.raises(TypeError, match="device type 8"):
        pyreduct.sum(x)
    assert x.asked == []


def test_dlpack_out():
    x, out = np.arange(6.0).reshape(2, 3), Exporter(np.zeros(2))
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    for wrong in (Capsule(np.zeros(2), False), Exporter(np.zeros(2), (2, 0)), *([Exporter(fixed)] if VERSIONED else [])):
        with pytest.raises(TypeError, match="out: a (Capsule|Exporter)"):
            pyreduct.sum(x, 1, out=wrong)
    if VERSIONED:
        assert pyreduct.sum(x, 1, out=out) is out and out.x.tolist() == [3, 12] and out.asked[-1] == (None, (1, 1), None, False)
        row = Exporter(x[0])
        assert pyreduct.sum(x, 0, out=row) is row and x[0].tolist() == [3, 5, 7]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("lengths", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("offset", ctypes.c_uint64)]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code": 10, "bits": 8}, "x: elements of float8_e4m3fn; "),
        ({"code": 5, "bits": 128}, "x: elements of complex128; "),
        ({"code": 2, "bits": 32, "lanes": 4}, "x: elements of float32 in 4 lanes; "),
        ({"code": 99, "bits": 16}, "x: elements of DLPack's type code 99 with 16 bits; "),
        ({}, None),
        ({"minor": 99}, None),
        ({"major": 2}, BufferError),
        ({"length": -1}, ValueError),
        ({"offset": 4}, ValueError),
        ({"data": None}, ValueError),
        ({"data": None, "length": 0}, None),
        ({"rank": 65}, ValueError),
        ({"rank": -1}, ValueError),
        ({"lanes": 2}, TypeError),
        ({"bits": 128}, TypeError),
        ({"code": 5}, TypeError),
    ],
)
def test_dlpack_structures(changes, error):
    """Of every field what may not be is refused, and what may be is read."""
    values, lengths = (ctypes.c_double * 4)(1, 2, 3, 4), (ctypes.c_int64 * 1)(changes.pop("length", 4))
    tensor = {"data": ctypes.addressof(values), "device": (1, 0), "rank": 1, "code": 2, "bits": 64, "lanes": 1, "lengths": ctypes.addressof(lengths)}
    managed = Managed(**{"major": 1, "minor": 0, **{name: changes.pop(name) for name in ("major", "minor") if name in changes}})
    managed.tensor = Tensor(**{**tensor, **changes})
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

    class Object:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **options):
            return new(ctypes.addressof(managed), b"dltensor_versioned", None)

    if error:
        expected, words = (TypeError, error) if isinstance(error, str) else (error, "x: ")
        with pytest.raises(expected, match=words):
            pyreduct.sum(Object())
    else:
        assert pyreduct.sum(Object()) == 10 * (lengths[0] == 4)


class CudaArray:
    """Not in host memory, which nothing here looks at."""

    __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (0, False), "version": 3}


class CudaTensor(Exporter, CudaArray):
    pass


def test_cuda_arrays_without_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(pyreduct._kinds._made, "cupy", raising=False)
    for _ in range(2):
        with pytest.raises(ImportError, match="__cuda_array_interface__ alone is read by CuPy"):
            pyreduct.sum(CudaArray())
    assert pyreduct.sum(CudaTensor(np.arange(3.0))) == 3


def test_columns_of_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (make check-python has it)")
    whole = pd.Series([BIG, 0], dtype="Int64")
    assert pyreduct.sum(whole) == BIG and pyreduct.sum(whole.astype("boolean")) == 1 and pyreduct.sum(whole.array) == BIG
    assert pyreduct.nansum(pd.Series([1.5, None])) == 1.5
    for dtype in ("Int64", "Float64", "boolean"):
        column = pd.Series([1, None], dtype=dtype)
        for x in (column, column.array, pd.Index(column), column.to_frame()):
            with pytest.raises(TypeError, match=f"^x: a .* of {dtype} with nulls; .* pyreduct.arrow"):
                pyreduct.nansum(x)
    with pytest.raises(TypeError, match="^weights: .*with nulls"):
        pyreduct.average(np.ones(2), weights=column)
    with pytest.raises(TypeError, match="^x: a column of int64 beside others"):
        pyreduct.sum(pd.DataFrame({"b": [0.5, 1.5], "a": [BIG, 0]}), axis=0)
    assert pyreduct.sum(pd.DataFrame({"b": [0.5, 1.5], "a": [BIG - 1, 0]}), axis=0).tolist() == [2, BIG - 1]
    assert pyreduct.sum(pd.DataFrame({"a": [1.0, 2.0], "b": [0.5, 1.5]}), axis=0).tolist() == [3, 2]


def test_types_of_other_packages():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("float8_e4m3fn", "int4"):
        with pytest.raises(TypeError, match=f"^x: elements of {name}; expected"):
            pyreduct.sum(np.ones(3, getattr(ml_dtypes, name)))


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3)
    assert pyreduct.sum(x) == 15 and pyreduct.sum(x).dtype == ml_dtypes.bfloat16
    assert pyreduct.max(x[:, ::-1], axis=1).tolist() == [2, 5]
    assert pyreduct.sum(np.full(3, 1.5), dtype="bf16").dtype == ml_dtypes.bfloat16


def test_out():
    x = np.ones((4, 4))
    assert pyreduct.sum(x, axis=0, out=x[0]).tolist() == [4.0] * 4  # which is read, too
    out = np.zeros(8)[::-2]
    pyreduct.sum(np.ones((4, 2)), axis=1, out=out)
    assert out.tolist() == [2.0] * 4
    strided = np.zeros((3, 8))[:, ::2]
    pyreduct.max(np.arange(24.0).reshape(3, 2, 4), axis=1, out=strided)
    assert strided.tolist() == [[4, 5, 6, 7], [12, 13, 14, 15], [20, 21, 22, 23]]
    pyreduct.sum(x, axis=0, out=strided[0])
    assert strided[0].tolist() == [7.0] * 4
    single = np.zeros(4, "f4")
    pyreduct.sum(x[1:], axis=0, out=single)
    assert single.tolist() == [3.0] * 4
    for wrong, error in ((np.zeros(3), ValueError), (np.zeros(4, "i4"), TypeError), ([0] * 4, TypeError)):
        with pytest.raises(error):
            pyreduct.sum(x, axis=0, out=wrong)
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    with pytest.raises(ValueError):
        pyreduct.sum(x, axis=0, out=fixed)
    kept = np.full(2, 7)
    with pytest.raises(OverflowError):
        pyreduct.sum(np.full((2, 2), 2**62), axis=1, out=kept)
    assert kept.tolist() == [7, 7]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: pyreduct.sum("abc"), TypeError, "found str"),
        (lambda: pyreduct.sum(1j), TypeError, "found complex"),
        (lambda: pyreduct.sum(None), TypeError, "found NoneType"),
        (lambda: pyreduct.sum({}), TypeError, "found dict"),
        (lambda: pyreduct.sum(np.zeros(2, ">f8")), TypeError, "byte-swapped"),
        (lambda: pyreduct.sum(np.zeros(2, complex)), TypeError, "x: elements of complex128"),
        (lambda: pyreduct.sum(np.zeros(2, object)), TypeError, "x: elements of object"),
        (lambda: pyreduct.sum(np.zeros(2, "U3")), TypeError, "x: elements of <U3"),
        (lambda: pyreduct.sum(np.zeros(2, np.longdouble)), TypeError, f"x: elements of {np.dtype(np.longdouble)};"),
        (lambda: pyreduct.sum(np.zeros(2, "f4,i4")), TypeError, r"x: elements of \[\('f0'"),
        (lambda: pyreduct.sum(np.ndarray), TypeError, "found the class ndarray; expected an array"),
        (lambda: pyreduct.sum(np.zeros(2), where=Exporter(np.zeros(2, complex))), TypeError, "where: elements of complex128"),
        (lambda: pyreduct.several(np.zeros(2), None), TypeError, r"ops: None; expected several names"),
        (lambda: pyreduct.several(np.zeros(2), [None]), TypeError, r"ops: None; expected the name"),
        (lambda: pyreduct.reduce(np.zeros(2), ["sum"]), TypeError, r"op: \['sum'\]; expected the name"),
        (lambda: pyreduct.segment_sum(np.zeros(4), np.array([0, 2**63 + 5], "u8")), ValueError, "from element 0 to 9223372036854775813; "),
        (lambda: pyreduct.segment_sum(np.zeros(4), [-2, -5]), ValueError, "from element -2 to -5; "),
        (lambda: pyreduct.group_sum(np.zeros((2, 0)), [0, 9], 2), ValueError, "number 1 is 9; expected one of the 2 groups"),
        (lambda: pyreduct.index_add(np.zeros((2, 0)), [9], np.zeros((1, 0))), ValueError, "number 0 is 9; expected one of the 2 groups"),
        (lambda: pyreduct.group_sum(np.zeros(2), [0, 0, 0], 2), ValueError, r"ids: shape \(3,\); expected \(2,\), one for each element or row"),
        (lambda: pyreduct.sum(np.zeros(2, "M8[s]")), (TypeError, ValueError), "."),
        (lambda: pyreduct.sum(np.zeros(2), 1), IndexError, "axis: 1 is out of bounds"),
        (lambda: pyreduct.sum(np.zeros((2, 2)), (0, -2)), ValueError, "twice"),
        (lambda: pyreduct.sum(np.zeros(2), axis="x"), (TypeError, AttributeError), "."),
        (lambda: pyreduct.sum(np.zeros(2), mode="quick"), ValueError, "mode: 'quick'"),
        (lambda: pyreduct.sum(np.zeros(2), nan="drop"), ValueError, "nan: 'drop'"),
        (lambda: pyreduct.sum(np.zeros(2), dtype="f80"), TypeError, "f80"),
        (lambda: pyreduct.sum(np.zeros(2), dtype="i32"), pyreduct.UnsupportedError, "cannot be i32"),
        (lambda: pyreduct.sum(np.zeros(2), dtype=np.dtype(">f8")), TypeError, "byte-swapped"),
        (lambda: pyreduct.sum(np.zeros(2), where=np.ones(3, bool)), ValueError, "cannot be broadcast"),
        (lambda: pyreduct.sum(np.zeros(2), where=np.ones(2)), TypeError, "expected bool"),
        (lambda: pyreduct.sum(np.zeros(2), where=1), TypeError, "elements of i64; expected bool"),
        (lambda: pyreduct.var(np.zeros(2), ddof=2), ValueError, "ddof: 2"),
        (lambda: pyreduct.var(np.zeros(1), ddof=1), pyreduct.EmptyError, "at least 2"),
        (lambda: pyreduct.mean(np.zeros(0)), ValueError, "at least 1"),
        (lambda: pyreduct.max(np.zeros((0, 2)), 0), ValueError, "."),
        (lambda: pyreduct.sum(np.full(3, 2**62)), OverflowError, "a wider result type holds it"),
        (lambda: pyreduct.norm(np.zeros(2), 3), ValueError, "ord: 3"),
        (lambda: pyreduct.dot(np.zeros(2), np.zeros(3)), ValueError, "shapes"),
        (lambda: pyreduct.dot(np.zeros(2), np.zeros(2, "f4")), TypeError, "f32; expected f64"),
        (lambda: pyreduct.dot(np.zeros((2, 2)), np.zeros((2, 2))), ValueError, "vecdot"),
        (lambda: pyreduct.segment_sum(np.zeros(4), np.array([0, 5])), ValueError, "."),
        (lambda: pyreduct.segment_sum(np.zeros(4), np.array([0.0, 4.0])), TypeError, "bounds of segments"),
        (lambda: pyreduct.segment_sum(np.zeros(4)), TypeError, "offsets"),
        (lambda: pyreduct.nansum(np.zeros(4), nan="error"), TypeError, r"nansum\(\) got an unexpected keyword argument 'nan'"),
        (lambda: pyreduct.nanargmax(), TypeError, r"nanargmax\(\) missing"),
        (lambda: pyreduct.segment_mean(np.zeros(4), [0, 4], axis=0), TypeError, r"segment_mean\(\) got an unexpected keyword argument 'axis'"),
        (lambda: pyreduct.group_max(np.zeros(4)), TypeError, r"group_max\(\) missing"),
        (lambda: pyreduct.group_by([1]).max([1.0], n=1), TypeError, r"Groups.max\(\) got an unexpected keyword argument 'n'"),
        (lambda: pyreduct.group_by([1]).several([1.0], ["max"], n=1), TypeError, r"Groups.several\(\) got an unexpected keyword argument 'n'"),
        (lambda: pyreduct.index_add(np.zeros(4)), TypeError, r"index_add\(\) missing"),
        (lambda: pyreduct.argmin(np.zeros(4), 0, None, True), TypeError, r"argmin\(\) takes"),
        (lambda: pyreduct.argmin(np.zeros(4), mode="fast"), TypeError, r"argmin\(\) got an unexpected keyword argument 'mode'"),
        (lambda: pyreduct.sum(), TypeError, "argument"),
        (lambda: pyreduct.sum(np.zeros(2), initial=3), TypeError, "initial"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_nan_error_has_the_index():
    with pytest.raises(pyreduct.NanError) as caught:
        pyreduct.sum(np.array([0, 1, np.nan]), nan="error")
    assert caught.value.index == 2


def test_without_numpy():
    """NumPy is loaded only when one of its arrays comes."""
    import subprocess

    program = "import sys, pyreduct; pyreduct.sum([0.5]); pyreduct.mean([1, 2], keepdims=True); assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
