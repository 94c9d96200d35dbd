"""RMSNorm and mean pooling of a sequence: the same bits alone, in batches of any size, and when two processes share the features and
the sequence. Prints what it compares, and how often plain PyTorch gives other bits; takes some seconds.

    python examples/torch_batch.py [--device cpu|cuda]
"""
import argparse
import multiprocessing
import time

import torch

import pyreduct.torch
from pyreduct import Accumulator

LENGTH, FEATURES = 16, 256
EPS = 1e-6


def sequences(count, device):
    return torch.randn(count, LENGTH, FEATURES, generator=torch.Generator().manual_seed(1)).to(device)


def layer(x):
    """Normalised by row, then pooled over the sequence."""
    x = torch.nn.functional.rms_norm(x, (FEATURES,), eps=EPS)
    return x.mean(dim=1)


def partial(operator, rows, device):
    """What a rank sends: for each row of its share the exact result, not yet rounded."""
    rows = torch.from_numpy(rows).to(device)
    return [Accumulator(operator, "f32", device="cpu" if device == "cpu" else str(rows.device)).add(row) for row in rows]


def squares_of(part, device):
    """One rank's features of one sequence."""
    return partial("sumsq", part, device)


def sums_of(part, device):
    """One rank's rows of one sequence, normalised."""
    return partial("sum", part.T.copy(), device)


def split_over_two(pool, x):
    """What layer() gives for one sequence: each rank has half of the features, then half of the rows, and sends accumulators."""
    device = x.device.type
    host = x.cpu().numpy()
    left, right = pool.starmap(squares_of, [(host[:, : FEATURES // 2].copy(), device), (host[:, FEATURES // 2 :].copy(), device)])
    mean = torch.tensor([(a + b).result() for a, b in zip(left, right)], dtype=torch.float32, device=x.device)[:, None] / FEATURES
    y = (x * torch.rsqrt(mean + EPS)).cpu().numpy()
    left, right = pool.starmap(sums_of, [(y[: LENGTH // 2], device), (y[LENGTH // 2 :], device)])
    sums = [(a + b).result() for a, b in zip(left, right)]
    return torch.tensor(sums, dtype=torch.float32, device=x.device) / LENGTH


def whole(x):
    """As the ranks do it, in one process: statistics rounded where they are."""
    y = x * torch.rsqrt(pyreduct.torch.sumsq(x, -1, True) / FEATURES + EPS)
    return pyreduct.torch.sum(y, -2) / LENGTH


def differing(function, x):
    """How many of the sequences come out with other bits in some batch than alone, and the seconds that it took."""
    began = time.perf_counter()
    alone = torch.cat([function(each[None]) for each in x])
    wrong = torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for size in (2, 3, 16, 64, 256):
        batched = torch.cat([function(part) for part in x.split(size)])
        wrong |= (batched != alone).any(1)
    return int(wrong.sum()), time.perf_counter() - began


def compare(device):
    """Lines that say what came out, and whether all of it is as it should be."""
    x = sequences(256, device)
    plain, plain_seconds = differing(layer, x)
    with pyreduct.torch.deterministic():
        exact, seconds = differing(layer, x)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        split = [torch.equal(split_over_two(pool, each), whole(each)) for each in x[:4]]
    lines = [
        f"other bits in a batch than alone: {plain} of 256 sequences as PyTorch does it, {exact} within deterministic()",
        f"time: {plain_seconds:.2f} s and {seconds:.2f} s",
        f"same bits on two ranks as on one: {sum(split)} of {len(split)} sequences",
    ]
    return lines, exact == 0 and all(split)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    lines, right = compare(parser.parse_args().device)
    print("\n".join(lines))
    return right


if __name__ == "__main__":
    raise SystemExit(not main())
