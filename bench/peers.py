#!/usr/bin/env python3
"""Times the library's sums, maxima and their places on all processors beside NumPy's and PyTorch's, through ctypes, whose own
call costs some 0.3 microseconds: bench/peers.py [LIBRARY [SIZE...]], by default build/libreduct.so and 2^7 to 2^28. Where
NumPy or PyTorch is not installed, its columns are left out. Microseconds, the lower third of 15 rounds."""
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

ROUNDS = 15
SIZES = [1 << k for k in (7, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28)]
OPERATORS = ('sum', 'max', 'argmax')


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


def main():
    library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else 'build/libreduct.so')
    sizes = [int(text) for text in sys.argv[2:]] or SIZES
    print(f'{os.cpu_count()} processors, NumPy {numpy.__version__}, '
          + (f'PyTorch {torch.__version__} on {torch.get_num_threads()} threads' if torch else 'no PyTorch'))
    for kind, dtype in (('f64', numpy.float64), ('f32', numpy.float32)):
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
