"""RMSNorm and mean pooling of a sequence: the same bits alone, in batches of any size, and when two processes share the features and
the sequence. Prints what it compares, and how often plain PyTorch gives other bits; takes some seconds.

    python examples/torch_batch.py
"""
import multiprocessing
import time

import torch

import pyreduct.torch
from pyreduct import Accumulator

LENGTH, FEATURES = 16, 256
EPS = 1e-6


def sequences(count):
    return torch.randn(count, LENGTH, FEATURES, generator=torch.Generator().manual_seed(1))


def layer(x):
    """Normalised by row, then pooled over the sequence."""
    x = torch.nn.functional.rms_norm(x, (FEATURES,), eps=EPS)
    return x.mean(dim=1)


def squares_of(part):
    """One rank's features of one sequence: for each row the exact sum of squares, not yet rounded."""
    return [Accumulator("sumsq", "f32").add(row) for row in part]


def sums_of(part):
    """One rank's rows of one sequence, normalised: for each feature the exact sum."""
    return [Accumulator("sum", "f32").add(column) for column in part.T]


def split_over_two(pool, x):
    """What layer() gives for one sequence: each rank has half of the features, then half of the rows, and sends accumulators."""
    left, right = pool.map(squares_of, [x[:, : FEATURES // 2].contiguous().numpy(), x[:, FEATURES // 2 :].contiguous().numpy()])
    mean = torch.tensor([(a + b).result() for a, b in zip(left, right)], dtype=torch.float32)[:, None] / FEATURES
    y = x * torch.rsqrt(mean + EPS)
    left, right = pool.map(sums_of, [y[: LENGTH // 2].numpy(), y[LENGTH // 2 :].numpy()])
    sums = [(a + b).result() for a, b in zip(left, right)]
    return torch.tensor(sums, dtype=torch.float32) / LENGTH


def whole(x):
    """As the ranks do it, in one process: statistics rounded where they are."""
    y = x * torch.rsqrt(pyreduct.torch.sumsq(x, -1, True) / FEATURES + EPS)
    return pyreduct.torch.sum(y, -2) / LENGTH


def differing(function, x):
    """How many of the sequences come out with other bits in some batch than alone."""
    alone = torch.cat([function(each[None]) for each in x])
    wrong = torch.zeros(len(x), dtype=torch.bool)
    for size in (2, 3, 16, 64, 256):
        batched = torch.cat([function(part) for part in x.split(size)])
        wrong |= (batched != alone).any(1)
    return int(wrong.sum())


def main():
    x = sequences(256)
    start = time.perf_counter()
    plain = differing(layer, x)
    middle = time.perf_counter()
    with pyreduct.torch.deterministic():
        exact = differing(layer, x)
    end = time.perf_counter()
    print(f"other bits in a batch than alone: {plain} of 256 sequences as PyTorch does it, {exact} within deterministic()")
    print(f"time: {middle - start:.2f} s and {end - middle:.2f} s")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        split = [torch.equal(split_over_two(pool, each), whole(each)) for each in x[:4]]
    print(f"same bits on two ranks as on one: {sum(split)} of {len(split)} sequences")
    return exact == 0 and all(split)


if __name__ == "__main__":
    raise SystemExit(not main())
