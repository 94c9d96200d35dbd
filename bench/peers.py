#!/usr/bin/env python3
"""Times the library's sums, maxima and their places on all processors beside NumPy's and PyTorch's, through ctypes, whose own
call, of nothing, is printed first and contained in the library's times: bench/peers.py [LIBRARY [SIZE...]], by default build/libreduct.so and 2^7 to 2^28. A SIZE
such as 1000x64 stands for the rows and columns of a matrix, `matrices` for a set of these, `groups` for sums of so many f64 by group
(2^26 where no size is given), beside NumPy's bincount and DuckDB's sum and fsum. Where PyTorch or DuckDB is not installed, its
columns are left out. Microseconds, the lower third of 15 rounds."""
import ctypes
import os
import sys
import time

try:
    import numpy
except ImportError:
    sys.exit('peers: needs NumPy, which holds the arrays')
try:
    import torch
except ImportError:
    torch = None

try:
    import duckdb
except ImportError:
    duckdb = None

ROUNDS = 15
SIZES = [1 << k for k in (7, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28)]
OPERATORS = ('sum', 'max', 'argmax')
MATRICES = [(16384, 2), (8192, 8), (1024, 32), (256, 64), (64, 256), (2, 16384), (16, 2048), (128, 128), (1000, 10),
            (1 << 20, 64), (64, 1 << 20), (4096, 4096)]
GROUPS = (10, 10**4, 10**6)
SHAPE, GROUPED = 1, 4  # kinds of plans


def microseconds(call, size):
    repeats = max(3, int(2e7 / (size + 20000)))
    call()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - began) / repeats)
    return sorted(times)[ROUNDS // 3] * 1e6


def of_library(library, name, kind, array):
    function = getattr(library, f'reduct_{name}_{kind}')
    result = (ctypes.c_uint64 if name == 'argmax' else ctypes.c_double if kind == 'f64' else ctypes.c_float)()
    arguments = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.size), ctypes.byref(result)

    def call():
        if function(*arguments) != 0:
            sys.exit(f'peers: {name} of {array.size} {kind} failed')
    return call


class Reduction(ctypes.Structure):
    """reduct_reduction: op, element, result, mode, nan, flags, reserved."""
    _fields_ = [('op', ctypes.c_int), ('element', ctypes.c_int), ('result', ctypes.c_int), ('mode', ctypes.c_int),
                ('nan', ctypes.c_int), ('flags', ctypes.c_uint32), ('reserved', ctypes.c_uint64 * 4)]


class Options(ctypes.Structure):
    """reduct_plan_options."""
    _fields_ = [('reductions', ctypes.c_void_p), ('count', ctypes.c_size_t), ('shape', ctypes.c_int64 * 6),
                ('device', ctypes.c_char_p), ('threads', ctypes.c_uint), ('kind', ctypes.c_int),
                ('array', ctypes.c_void_p), ('segments', ctypes.c_void_p), ('example', ctypes.c_void_p), ('executor', ctypes.c_void_p),
                ('mask', ctypes.c_int), ('mask_offset', ctypes.c_uint64), ('groups', ctypes.c_void_p), ('rest', ctypes.c_uint64 * 9)]


class Groups(ctypes.Structure):
    """reduct_groups."""
    _fields_ = [('count', ctypes.c_uint64), ('elements', ctypes.c_uint64), ('index', ctypes.c_int), ('width', ctypes.c_uint64),
                ('skip', ctypes.c_int), ('with_initial', ctypes.c_int), ('reserved', ctypes.c_uint64 * 4)]


def of_nothing(library):
    """A call that does nothing, with as many arguments."""
    function = library.reduct_count_f64
    result = ctypes.c_uint64()
    arguments = ctypes.c_void_p(None), ctypes.c_size_t(0), ctypes.byref(result)
    return lambda: function(*arguments)


def along_axis(library, name, kind, array, axis):
    """A plan for the rows (axis 1) or columns of a matrix, as a call."""
    rows, columns = array.shape
    op, element = ctypes.c_int(), ctypes.c_int()
    library.reduct_operator_parse(name.encode(), ctypes.byref(op))
    library.reduct_type_parse(kind.encode(), ctypes.byref(element))
    reduction = Reduction(op=op.value, element=element.value)
    shape = (rows, columns, 1, columns, 1, 0) if axis else (1, rows, columns, 0, columns, 1)
    options = Options(reductions=ctypes.addressof(reduction), count=1, shape=shape, kind=SHAPE)
    plan = ctypes.c_void_p()
    if library.reduct_plan_create(ctypes.byref(options), ctypes.byref(plan), None) != 0:
        sys.exit(f'peers: no plan for {name} of {rows}x{columns} {kind}')
    results = numpy.empty(rows if axis else columns, numpy.uint64)  # as many bytes as any result has
    inputs, places = (ctypes.c_void_p * 1)(array.ctypes.data), (ctypes.c_void_p * 1)(results.ctypes.data)

    def call():
        if library.reduct_plan_execute(plan, inputs, places, None, None) != 0:
            sys.exit(f'peers: {name} of {rows}x{columns} {kind} failed')
    call.keeps = results
    return call


def time_matrices(library, matrices):
    for kind, dtype in (('f64', numpy.float64), ('f32', numpy.float32)):
        for name in OPERATORS:
            print(f'\n{name} of {kind}, rows, then columns: reduct, NumPy' + (', PyTorch' if torch else ''))
            for rows, columns in matrices:
                array = numpy.random.default_rng(1).standard_normal((rows, columns)).astype(dtype)
                print(f'{rows}x{columns}', end='')
                for axis in (1, 0):
                    calls = [along_axis(library, name, kind, array, axis), lambda axis=axis: getattr(array, name)(axis=axis)]
                    if torch:
                        whole, method = torch.from_numpy(array), 'amax' if name == 'max' else name
                        calls.append(lambda axis=axis: getattr(whole, method)(dim=axis))
                    print('  |', *(f'{microseconds(call, array.size):.2f}' for call in calls), end='', flush=True)
                print()


def by_group(library, values, indices, groups, threads):
    """A plan for the sums of groups of f64, as a call."""
    op, element, index = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    library.reduct_operator_parse(b'sum', ctypes.byref(op))
    library.reduct_type_parse(b'f64', ctypes.byref(element))
    library.reduct_type_parse(b'u32', ctypes.byref(index))
    reduction = Reduction(op=op.value, element=element.value)
    grouped = Groups(count=groups, elements=values.size, index=index.value)
    options = Options(reductions=ctypes.addressof(reduction), count=1, kind=GROUPED, threads=threads, groups=ctypes.addressof(grouped))
    plan = ctypes.c_void_p()
    if library.reduct_plan_create(ctypes.byref(options), ctypes.byref(plan), None) != 0:
        sys.exit(f'peers: no plan for {groups} groups')
    results = numpy.empty(groups)
    inputs, places = (ctypes.c_void_p * 2)(values.ctypes.data, indices.ctypes.data), (ctypes.c_void_p * 1)(results.ctypes.data)

    def call():
        if library.reduct_plan_execute(plan, inputs, places, None, None) != 0:
            sys.exit(f'peers: sums of {groups} groups failed')
    call.keeps = results
    return call


def time_groups(library, sizes):
    print('\nsum of f64 by group: n, groups, reduct on one thread, on all, NumPy bincount'
          + (f', DuckDB {duckdb.__version__} sum, fsum' if duckdb else ''))
    for size in sizes:
        for groups in GROUPS:
            random = numpy.random.default_rng(1)
            values, indices = random.standard_normal(size), random.integers(0, groups, size, numpy.uint32)
            calls = [by_group(library, values, indices, groups, 1), by_group(library, values, indices, groups, 0),
                     lambda: numpy.bincount(indices, values, groups)]
            if duckdb:
                arrays, connection = {'k': indices, 'x': values}, duckdb.connect()  # which DuckDB finds by its name
                connection.execute('create table pairs as select k, x from arrays')
                for name in ('sum', 'fsum'):
                    calls.append(lambda name=name: connection.execute(f'select k, {name}(x) from pairs group by k').fetchnumpy())
            print(size, groups, *(f'{microseconds(call, size):.0f}' for call in calls), flush=True)


def main():
    library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else 'build/libreduct.so')
    given = sys.argv[2:]
    matrices = [tuple(map(int, text.split('x'))) for text in given if 'x' in text] + (MATRICES if 'matrices' in given else [])
    sizes = [int(text) for text in given if text.isdigit()] or ([] if matrices or 'groups' in given else SIZES)
    print(f'{os.cpu_count()} processors, NumPy {numpy.__version__}, '
          + (f'PyTorch {torch.__version__} on {torch.get_num_threads()} threads' if torch else 'no PyTorch'))
    print(f'a call of nothing through ctypes: {microseconds(of_nothing(library), 0):.2f}')
    if matrices:
        time_matrices(library, matrices)
    if 'groups' in given:
        time_groups(library, sizes or [1 << 26])
        return
    for kind, dtype in (('f64', numpy.float64), ('f32', numpy.float32)) if sizes else ():
        for name in OPERATORS:
            print(f'\n{name} of {kind}: n, reduct, NumPy' + (', PyTorch' if torch else ''))
            for size in sizes:
                array = numpy.random.default_rng(1).standard_normal(size).astype(dtype)
                calls = [of_library(library, name, kind, array), getattr(array, name)]
                if torch:
                    calls.append(getattr(torch.from_numpy(array), name))
                print(size, *(f'{microseconds(call, size):.2f}' for call in calls), flush=True)


if __name__ == '__main__':
    main()
