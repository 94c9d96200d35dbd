"""How many bit patterns one row's sum has: alone, in batches, at other alignments, in parts, by several threads, on CPU and GPU; of
this library, and of PyTorch beside it. Needs PyTorch and NumPy; without a GPU only the CPU is asked.

    python3 bench/invariance.py build/libreduct.so

A row of 4096 numbers is summed in every setting of a list; one of 2^20, on the CPU, by 1 to 8 threads. Printed is how many different results there are in each group of
settings, and over all of them: 1 means that nothing but the data decides."""
import ctypes
import os
import struct
import sys

import torch

from peers import Options, Reduction

COLUMNS = 4096
BATCHES = (1, 2, 3, 8, 31, 64, 256, 1000, 10000, 100000, 1000000)
PARTS = (2, 3, 4, 5, 6, 7, 8)
LONG = 1 << 20
THREADS = (1, 2, 3, 4, 5, 6, 7, 8)
SHAPE = 1  # REDUCT_SHAPE
SUM = 1


class AccumulatorOptions(ctypes.Structure):
    """reduct_accumulator_options."""
    _fields_ = [('reduction', ctypes.c_void_p), ('rest', ctypes.c_uint64 * 12)]


def pattern(value):
    """The bits of an f32."""
    return struct.pack('<f', value).hex()


class Reduct:
    """Sums of this library, of tensors where they lie."""
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        element = ctypes.c_int()
        self.library.reduct_type_parse(b'f32', ctypes.byref(element))
        self.reduction = Reduction(op=SUM, element=element.value)

    def check(self, status):
        if status:
            raise RuntimeError(f'the library says {status}')

    def rows(self, matrix, threads=0):
        """The first of the rows' sums."""
        rows, columns = matrix.shape
        options = Options(reductions=ctypes.addressof(self.reduction), count=1, kind=SHAPE, threads=threads,
                          device=b'cuda:0' if matrix.is_cuda else b'cpu')
        options.shape[:] = (rows, columns, 1, matrix.stride(0), 1, 0)
        plan, results = ctypes.c_void_p(), (ctypes.c_float * rows)()
        self.check(self.library.reduct_plan_create(ctypes.byref(options), ctypes.byref(plan), None))
        self.check(self.library.reduct_plan_execute(plan, (ctypes.c_void_p * 1)(matrix.data_ptr()),
                                                    (ctypes.c_void_p * 1)(ctypes.addressof(results)), None, None))
        self.library.reduct_plan_destroy(plan)
        return results[0]

    def parts(self, row, count):
        """Each part in an accumulator of its own, merged."""
        total, result = None, ctypes.c_float()
        options = AccumulatorOptions(reduction=ctypes.addressof(self.reduction))
        for part in torch.tensor_split(row.cpu(), count):
            accumulator = ctypes.c_void_p()
            self.check(self.library.reduct_accumulator_create(ctypes.byref(options), ctypes.byref(accumulator), None))
            self.check(self.library.reduct_accumulator_add(accumulator, ctypes.c_void_p(part.data_ptr()), None,
                                                           ctypes.c_uint64(part.numel()), None))
            if total is None:
                total = accumulator
                continue
            self.check(self.library.reduct_accumulator_merge(total, accumulator, None))
            self.library.reduct_accumulator_destroy(accumulator)
        self.check(self.library.reduct_accumulator_result(total, 0, ctypes.byref(result), None))
        self.library.reduct_accumulator_destroy(total)
        return result.value


class Torch:
    """The same of PyTorch: parts are added as its own sums."""
    def rows(self, matrix, threads=0):
        if threads:
            torch.set_num_threads(threads)
        return matrix.sum(1)[0].item()

    def parts(self, row, count):
        return torch.stack([part.sum() for part in torch.tensor_split(row, count)]).sum().item()


def fits(batch, device):
    """Whether there is memory for a batch; says so where there is not."""
    needed = 4 * COLUMNS * batch
    free = torch.cuda.mem_get_info()[0] if device == 'cuda' else os.sysconf('SC_AVPHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
    if needed > free // 4 * 3:
        print(f'not asked, {device}: a batch of {batch} takes {needed >> 20} MiB, of {free >> 20} that are free')
    return needed <= free // 4 * 3


def settings(summer, row, device):
    """Bits in each group of settings on a device."""
    row = row.to(device)
    found = {'in batches': set(), 'shifted by elements': set(), 'in parts': set()}
    for batch in filter(lambda batch: fits(batch, device), BATCHES):
        found['in batches'].add(pattern(summer.rows(row.repeat(batch, 1))))
    for shift in range(8):
        room = torch.zeros(4, COLUMNS + 8, device=device)
        room[:, shift:shift + COLUMNS] = row
        found['shifted by elements'].add(pattern(summer.rows(room[:, shift:shift + COLUMNS])))
    for parts in PARTS:
        found['in parts'].add(pattern(summer.parts(row, parts)))
    return found


def by_threads(summer, row):
    """The same of a long row on the CPU, by so many threads."""
    return {pattern(summer.rows(row.reshape(1, -1), threads)) for threads in THREADS}


def main():
    torch.manual_seed(1)
    row, long_row = torch.randn(COLUMNS), torch.randn(LONG)
    devices = ['cpu'] + (['cuda'] if torch.cuda.is_available() else [])
    exact = sum(map(float, row))  # near enough to tell rows from each other
    print(f'a row of {COLUMNS} f32, its sum near {exact:.6f}; PyTorch {torch.__version__}')
    if len(devices) > 1:
        print(torch.cuda.get_device_name())
    for name, summer in (('reduct', Reduct(sys.argv[1])), ('PyTorch', Torch())):
        everything = set()
        for device in devices:
            for group, bits in settings(summer, row, device).items():
                print(f'{name}, {device}, {group}: {len(bits)}')
                everything |= bits
        print(f'{name}, all: {len(everything)}')
        print(f'{name}, cpu, a row of {LONG} by 1 to {THREADS[-1]} threads: {len(by_threads(summer, long_row))}')


main()
