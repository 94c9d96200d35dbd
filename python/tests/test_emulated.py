"""Calls on a CUDA device, which tests/emulated_cuda stands for: its memory is the host's, so that arrays of NumPy play tensors there. Of
streams it has the handles alone; what is tested is what is called, and the bits."""
import ctypes
import os
import sys

import numpy as np
import pytest
from exact import same

import pyreduct
from pyreduct import _core, _cuda, _functions, _groups, _kinds

if not os.environ.get("REDUCT_TEST_EMULATED"):
    pytest.skip("the emulated GPU's kernels are in a module of their own (ctest -R python_emulated)", allow_module_level=True)

CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("lengths", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
def view_of(tensor, out):
    x = tensor.x
    out[0] = DLTensor(x.ctypes.data, 2, 0, x.ndim, CODES[x.dtype.kind], 8 * x.itemsize, 1, ctypes.addressof(tensor.lengths), ctypes.addressof(tensor.strides), 0)
    return 0


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(device_type, device, out):
    assert (device_type, device) == (2, 0)
    out[0] = Kind.current
    return 0


class Exchange(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("unused", ctypes.c_void_p * 3),
                ("view", type(view_of)), ("stream", type(current_stream))]  # fmt: skip


NAME = ctypes.create_string_buffer(b"dlpack_exchange_api")  # of the capsule, which keeps its address
EXCHANGE = Exchange(1, 3, None, (ctypes.c_void_p * 3)(), view_of, current_stream)
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]


class Tensor:
    __dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(EXCHANGE), ctypes.addressof(NAME), None)
    requires_grad = False

    def __init__(self, x):
        self.x = x
        self.lengths = (ctypes.c_int64 * (x.ndim + 1))(*x.shape)
        self.strides = (ctypes.c_int64 * (x.ndim + 1))(*(stride // x.itemsize for stride in x.strides))

    def is_neg(self):
        return False

    def __getitem__(self, place):
        return Tensor(self.x[place])


class Kind(_kinds.Kind):
    """As that of PyTorch's tensors."""

    signed = queues = True
    current = None  # the stream
    is_capturing = False
    sizes: list = []

    def view(self, x, name):
        assert type(x) is Tensor
        x = x.x
        return _core.View.pointer(x.ctypes.data, _kinds.type_name(x.dtype), x.shape, tuple(stride // x.itemsize for stride in x.strides), False, 0, x)

    writable = view

    def make(self, shape, kind):
        return Tensor(np.empty(shape, _kinds.LONG[kind]))

    def output(self, shape, kind, like):
        made = self.make(shape, kind)
        return made, self.view(made, "out")

    def recipe(self, shape, kind, device):
        assert device == 0
        return self.make, (shape, kind), {}

    def finish(self, made, kind):
        return made

    def scratch(self, size, like):
        self.sizes.append(size)
        room = np.full(size + 256, 0xA5, "u1")
        room = room[-room.ctypes.data % 256 :][:size]
        return room, room.ctypes.data

    def stream(self, like):
        return self.current or 0

    def capturing(self, like):
        return self.is_capturing

    def narrowed(self, made, kind, check):
        narrow = made.x.astype(_kinds.LONG[kind])
        fits = narrow == made.x
        return Tensor(np.where(fits, narrow, 0).astype(narrow.dtype)), not check or fits.all()

    def to_host(self, made):
        return bytes(made)


@pytest.fixture(autouse=True)
def kind(monkeypatch):
    assert _core.use_tensors(Tensor)
    monkeypatch.setitem(_kinds._of_class, Tensor, Kind())
    monkeypatch.setattr(Kind, "sizes", [])
    yield Kind


@pytest.fixture
def long_ways(monkeypatch):
    """How often the general functions queued something."""
    calls, queue = [], _cuda.queue
    monkeypatch.setattr(_cuda, "queue", lambda *arguments: (calls.append(arguments), queue(*arguments)))
    return calls


def data(*shape, dtype="f4", seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 100).astype(dtype)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_reductions(dtype, axis, long_ways):
    for seed in range(3):
        for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1, 1::2]):
            x = view(data(30, 50, dtype=dtype, seed=seed))
            expected = pyreduct.sum(x, axis)
            same(pyreduct.sum(Tensor(x), axis, check=False).x, np.asarray(expected))
            out = Tensor(np.zeros((*np.shape(expected), 2), expected.dtype)[..., 1])
            assert pyreduct.sum(Tensor(x), axis=axis, out=out, check=False) is out
            same(out.x.copy(), np.asarray(expected))
    assert not long_ways


def test_where_and_groups(long_ways):
    for seed in range(3):
        x, ids = data(200, seed=seed), np.random.default_rng(seed).integers(0, 9, 200)
        mask = x > 0
        same(pyreduct.sum(Tensor(x), 0, where=Tensor(mask), keepdims=True).x, pyreduct.sum(x, 0, where=mask, keepdims=True))
        same(pyreduct.index_add(Tensor(x[:9].copy()), Tensor(ids), Tensor(x), check=False).x, pyreduct.index_add(x[:9].copy(), ids, x))
        same(pyreduct.group_sum(Tensor(x), Tensor(ids), 9, check=False).x, pyreduct.group_sum(x, ids, 9))
    assert not long_ways


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("sort", [False, True])
def test_keys(dtype, sort, monkeypatch):
    """Also where there are so many that the first room is too small."""
    monkeypatch.setattr(_groups, "_ROOM", 8)
    monkeypatch.setattr(_groups, "_MORE", 4)
    for count, different in [(0, 1), (1, 1), (500, 3), (500, 8), (500, 9), (500, 400)]:
        numbers = np.random.default_rng(count + different)
        keys = numbers.integers(0, 2**32, different, "u8").astype(dtype)[numbers.integers(0, different, count)]
        x = data(count, seed=different)
        expected, groups = pyreduct.group_by(keys, sort=sort), pyreduct.group_by(Tensor(keys), sort=sort)
        assert len(groups) == len(expected) and groups.ids.x.dtype == np.int32
        same(groups.keys.x, expected.keys)
        same(groups.ids.x.astype("i8"), expected.ids)
        same(groups.sum(Tensor(x)).x, expected.sum(x))


def test_keys_refused(monkeypatch):
    with pytest.raises(TypeError, match="keys: elements of f32"):
        pyreduct.group_by(Tensor(data(3)))
    with pytest.raises(ValueError, match="expected one axis"):
        pyreduct.group_by(Tensor(np.zeros((2, 2), "i4")))
    monkeypatch.setattr(_groups, "_MOST", 2)
    with pytest.raises(ValueError, match="more than 2 different ones"):
        pyreduct.group_by(Tensor(np.arange(3)))


def test_what_is_waited_for(kind, monkeypatch, long_ways):
    """It raises, each time anew, with the library's words, and asks for no workspace."""
    x, big, gaps = data(20), np.full((2, 3), 2**62), np.array([[1, 2], [3, np.nan]], "f4")
    big[0] = 1

    def check(turn):
        with pytest.raises(ValueError, match="^indices: number 1 is 20; expected one of the 20 groups$") as caught:
            pyreduct.index_add(Tensor(x), Tensor(np.array([3, 20, -1])), Tensor(x[:3]))
        assert caught.value.index == 1
        with pytest.raises(OverflowError, match="^sum: result 1: the result does not fit i64$"):
            pyreduct.sum(Tensor(big), 1)
        with pytest.raises(OverflowError, match="^sum: the result does not fit i64$"):
            pyreduct.sum(Tensor(big))
        with pytest.raises(pyreduct.NanError, match="^max: result 1: element 1 is NaN$") as caught:
            pyreduct.max(Tensor(gaps), 1, nan="error")
        assert caught.value.index == 1
        with pytest.raises(pyreduct.NanError, match="^sum: element 3 is NaN$"):
            pyreduct.sum(Tensor(gaps), nan="error")
        with pytest.raises(ValueError, match="^segments: number 1 is not within the array's 20 elements$"):
            pyreduct.segment_sum(Tensor(x), Tensor(np.array([0, 5, 21])))
        with pytest.raises(OverflowError, match="^sum: result 1: "):
            pyreduct.several(Tensor(big), ["max", "sum", "min"], 1)
        assert len(long_ways) == turn + 1  # several() alone
        same(pyreduct.sum(Tensor(np.full((2, 3), 7)), 1).x, np.array([21, 21]))
        same(pyreduct.sum(Tensor(big), 1, check=False).x[:1], np.array([3]))
        same(pyreduct.group_sum(Tensor(x), Tensor(np.arange(20) % 3), 3).x, pyreduct.group_sum(x, np.arange(20) % 3, 3))

    for turn in range(3):
        check(turn)
    monkeypatch.setattr(kind, "current", streams(1)[0])
    check(3)
    assert not kind.sizes


def test_out_within_x():
    x = data(6, 10)
    expected = pyreduct.sum(x, 1)
    for _ in range(2):
        pyreduct.sum(Tensor(x), 1, out=Tensor(np.empty((9, 10), "f4")[5, :6]))
        y = x.copy()

        class Writable(Tensor):  # a long way, as this is not one of the tensors
            pass

        with pytest.raises(TypeError):
            pyreduct.sum(Writable(y), 1)
        pyreduct.sum(Tensor(y), 1, out=Tensor(np.zeros(6, "f4")))
        same(pyreduct.sum(Tensor(y), 1).x, expected)


def streams(count):
    """Handles of streams of the device's context."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, handles = ctypes.c_void_p(), []
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
    for _ in range(count):
        handle = ctypes.c_void_p()
        assert cuda.cuStreamCreate(ctypes.byref(handle), 1) == 0
        handles.append(handle.value)
    return handles


def test_workspaces(kind, monkeypatch, long_ways):
    """One for each stream, as large as what needs most; none that others use while a graph is captured."""
    x, ids = data(3000), np.random.default_rng(1).integers(0, 9, 3000)

    def calls():
        same(pyreduct.sum(Tensor(x)).x, np.asarray(pyreduct.sum(x)))
        same(pyreduct.group_sum(Tensor(x), Tensor(ids), 9, check=False).x, pyreduct.group_sum(x, ids, 9))

    calls()
    before = len(kind.sizes)
    assert before <= 1
    for _ in range(3):
        calls()
    assert len(kind.sizes) == before
    made = streams(2)
    for stream in made:
        monkeypatch.setattr(kind, "current", stream)
        count = len(kind.sizes)
        for _ in range(3):
            calls()
        assert len(kind.sizes) == count + 1
    assert not long_ways
    monkeypatch.setattr(kind, "is_capturing", True)
    count = len(kind.sizes)
    calls()
    calls()
    assert len(kind.sizes) == count + 4
    monkeypatch.setattr(kind, "is_capturing", False)
    large = np.zeros(1 << 17, "f4")
    large[:9] = x[:9]
    many = np.arange(1 << 17) % (1 << 16)
    expected = pyreduct.group_sum(large, many, 1 << 16)
    same(pyreduct.group_sum(Tensor(large), Tensor(many), 1 << 16, check=False).x, expected)
    assert len(kind.sizes) == count + 5 and kind.sizes[-1] > 1 << 20
    same(pyreduct.group_sum(Tensor(large), Tensor(many), 1 << 16, check=False).x, expected)
    calls()
    assert len(kind.sizes) == count + 5 and not long_ways


def test_many_threads(kind):
    import threading

    x, wrong = data(40, 50), []
    expected, whole = pyreduct.sum(x, 1), np.asarray(pyreduct.sum(x))

    def work():
        for _ in range(10):
            if pyreduct.sum(Tensor(x), 1).x.tobytes() != expected.tobytes() or pyreduct.sum(Tensor(x)).x.tobytes() != whole.tobytes():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ------------------------------------------------------------------------------------------------------------------------------
# What has the attributes of CuPy's arrays, and none of DLPack's functions
# ------------------------------------------------------------------------------------------------------------------------------


class Stream:
    capturing = False

    def __init__(self, handle):
        self.ptr = handle or 0

    def is_capturing(self):
        return self.capturing


class External(Stream):
    """One that its maker may end at any time."""


class Pointer:
    def __init__(self, address, device):
        self.ptr, self.device_id = address, device


class Device:
    def __init__(self, number):
        self.id = number

    def __enter__(self):
        self.before, Cupy.device = Cupy.device, self.id

    def __exit__(self, *error):
        Cupy.device = self.before


class Cupy:
    """The module, as far as it is used, of two devices, of which only the first one is there. Of its arrays the memory is NumPy's."""

    device = 0  # the current one
    current = Stream(0)
    sizes: list = []  # of arrays of bytes
    dtype = np.dtype

    class ndarray:
        def __init__(self, shape, dtype, x=None, device=None):
            x = np.empty(shape, dtype) if x is None else np.asarray(x)
            self.x, self.shape, self.strides, self.dtype = x, x.shape, x.strides, x.dtype
            self.data = Pointer(x.ctypes.data if x.size else 0, Cupy.device if device is None else device)

        def __setitem__(self, place, value):
            self.x[place] = value.x

        @property
        def device(self):
            return Device(self.data.device_id)

        @property
        def __cuda_array_interface__(self):
            return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str, "data": (self.data.ptr, False), "version": 3}

    @staticmethod
    def empty(shape, dtype):
        if dtype != "u1":
            return Cupy.ndarray(shape, dtype)
        Cupy.sizes.append(shape)
        room = np.full(shape + 256, 0xA5, dtype)
        return Cupy.ndarray(None, None, room[-room.ctypes.data % 256 :][:shape])

    class cuda:
        Stream = Stream

        class runtime:
            @staticmethod
            def getDevice():
                return Cupy.device

        @staticmethod
        def get_current_stream():
            return Cupy.current


def there(x, device=0):
    return Cupy.ndarray(None, None, x, device)


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", Cupy)
    monkeypatch.setitem(_kinds._of_class, Cupy.ndarray, _kinds.CuPy())
    monkeypatch.setattr(Cupy, "sizes", [])
    return Cupy


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_cupy(dtype, cupy, long_ways):
    """By their attributes, whatever their types and strides."""
    for seed in range(2):
        for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1, 1::2], lambda x: x[:, :1], lambda x: x[:, :0], lambda x: x[0, 0]):
            x = view(np.abs(data(12, 20, seed=seed)).astype(dtype))
            for axis in (None, *range(x.ndim)):
                expected = np.asarray(pyreduct.sum(x, axis, keepdims=True))
                result = pyreduct.sum(there(x), axis, keepdims=True, check=False)
                assert type(result) is Cupy.ndarray and result.dtype == expected.dtype
                same(result.x, expected)
                out = there(np.zeros((*expected.shape, 2), expected.dtype)[..., 1])
                assert pyreduct.sum(there(x), axis, keepdims=True, out=out, check=False) is out
                same(out.x.copy(), expected)
    assert not long_ways


def test_cupy_groups(cupy, long_ways):
    for seed in range(3):
        x, ids = data(200, seed=seed), np.random.default_rng(seed).integers(0, 9, 200)
        same(pyreduct.sum(there(x), 0, where=there(x > 0), keepdims=True).x, pyreduct.sum(x, 0, where=x > 0, keepdims=True))
        same(pyreduct.index_add(there(x[:9].copy()), there(ids), there(x), check=False).x, pyreduct.index_add(x[:9].copy(), ids, x))
    assert not long_ways


def test_kinds_are_told_apart(cupy, long_ways):
    x = data(4, 5)
    for _ in range(2):
        assert type(pyreduct.sum(there(x), 1)) is Cupy.ndarray
        assert type(pyreduct.sum(Tensor(x), 1)) is Tensor
    assert not long_ways


def test_cupy_long_ways(cupy, monkeypatch, long_ways):
    """What is not read by attributes, or is of another device than the current one."""
    x = data(6, 10)
    expected, turns = pyreduct.sum(x, 1), 0

    def long(array, **options):
        nonlocal turns
        for _ in range(2):
            turns += 1
            same(pyreduct.sum(array, 1, **options).x.copy(), expected)
            assert len(long_ways) == turns

    same(pyreduct.sum(there(x), 1).x, expected)
    monkeypatch.setattr(cupy, "device", 1)
    long(there(x))
    long(there(x), out=there(np.zeros(6, "f4")))
    assert cupy.device == 1
    monkeypatch.setattr(cupy, "device", 0)
    monkeypatch.setattr(_kinds.CuPy, "stream", lambda self, like: 0)  # the emulated device has none of those
    for handle in (External(0), Stream(2)):
        monkeypatch.setattr(cupy, "current", handle)
        long(there(x))
    monkeypatch.setattr(cupy, "current", Stream(0))
    swapped = there(x)
    swapped.dtype = np.dtype(">f4")
    for wrong in (swapped, there(x.view("u1").reshape(-1)[1:-3].view("f4"))):
        with pytest.raises((TypeError, ValueError)):
            pyreduct.sum(wrong, 0)
    odd = there(x)
    odd.strides = 7
    with pytest.raises(TypeError):
        pyreduct.sum(odd, 1)
    same(pyreduct.sum(there(x), 1).x, expected)
    assert len(long_ways) == turns
    y = x.copy()
    same(pyreduct.sum(there(y), 1, out=there(y[5, :6])).x.copy(), expected)  # within x
    same(pyreduct.sum(there(x), 1, out=there(np.zeros(6, "f4"))).x, expected)


def test_cupy_workspaces(cupy, monkeypatch, long_ways):
    """One for each stream, which it keeps from ending; of the allocator while a graph is captured."""
    import weakref

    x, ids = data(3000), np.random.default_rng(1).integers(0, 9, 3000)

    def calls():
        same(pyreduct.sum(there(x)).x, np.asarray(pyreduct.sum(x)))
        same(pyreduct.group_sum(there(x), there(ids), 9, check=False).x, pyreduct.group_sum(x, ids, 9))

    made = [Stream(handle) for handle in streams(2)]
    kept = [weakref.ref(stream) for stream in made]
    for stream in made:
        monkeypatch.setattr(cupy, "current", stream)
        count = len(Cupy.sizes)
        for _ in range(3):
            calls()
        assert len(Cupy.sizes) == count + 1
    same_handle = Stream(made[1].ptr)  # of another stream, for all that is known
    monkeypatch.setattr(cupy, "current", same_handle)
    calls()
    assert len(Cupy.sizes) == count + 2 and not long_ways
    monkeypatch.setattr(Stream, "capturing", True)
    calls()
    assert not long_ways and len(Cupy.sizes) == count + 4
    monkeypatch.setattr(Stream, "capturing", False)
    monkeypatch.undo()
    del made, stream
    assert all(stream() for stream in kept)


def test_in_c():
    """What the benchmark measures is the same call."""
    from pyreduct import bench

    x = data(30, 50)
    call = bench.InC("sum", Tensor(x), 1)
    call.times = 2
    call()
    same(call.room.x, pyreduct.sum(x, 1))
    assert _functions.PREPARED["sum"](Tensor(x), 1).plan.device.startswith("cuda")


def test_integers_of_narrower_types():
    x, ids = np.array([[1, 2], [2**31 - 1, 1]]), np.array([1, 0])
    for _ in range(2):
        assert pyreduct.sum(Tensor(x[:1]), 1, dtype="i32").x.tolist() == [3]
        result = pyreduct.index_add(Tensor(np.ones(2, "i4")), Tensor(ids), Tensor(np.array([3, 4], "i4")))
        assert result.x.tolist() == [5, 4] and result.x.dtype == np.int32
        with pytest.raises(OverflowError, match="sum: a result does not fit i32"):
            pyreduct.sum(Tensor(x), 1, dtype="i32")
        assert pyreduct.sum(Tensor(x), 1, dtype="i32", check=False).x.tolist() == [3, 0]
        with pytest.raises(OverflowError, match="sum: a result does not fit i32"):
            pyreduct.index_add(Tensor(np.ones(2, "i4")), Tensor(ids), Tensor(np.array([3, 2**31 - 1], "i4")))


def test_few_elements():
    """Of none and one there is no whole array: there, too, what does not exist is NaN."""
    for count in (0, 1):
        x = np.ones(count, "f4")
        assert np.isnan(pyreduct.var(Tensor(x), ddof=1, check=False).x) and pyreduct.sum(Tensor(x)).x == count
    assert np.isnan(pyreduct.mean(Tensor(x[:0]), check=False).x) and pyreduct.max(Tensor(x)).x == 1
    with pytest.raises(ValueError, match="of the 2 groups"):
        pyreduct.group_sum(Tensor(np.zeros((2, 0), "f4")), Tensor(np.array([0, 9])), 2)
