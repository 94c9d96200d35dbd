"""A small graph network that learns on a graph made from a seed: within deterministic() its weights end with the same bits in every run,
with any number of threads, whatever the order in which the edges are listed, and on a CPU and a GPU alike. Beside it plain PyTorch, whose
index_add on a GPU adds in the order in which atomic additions meet. Prints how many different sets of weights each has, and what it costs.

    python examples/torch_graph.py [--steps 100] [--device cpu|cuda]
"""
import argparse
import contextlib
import hashlib
import time

import torch

import pyreduct.torch

NODES, EDGES, FEATURES, HIDDEN = 1024, 8192, 8, 16  # of which quotients are powers of 2, so that to multiply by them is exact
RATE = 0.0625


def graph(order, device):
    """Features, edges in some order, and what is to be learnt: a sum over neighbours."""
    generator = torch.Generator().manual_seed(1)
    x = 2 * torch.rand(NODES, FEATURES, generator=generator) - 1
    edges = torch.randint(0, NODES, (2, EDGES), generator=generator)
    target = torch.zeros(NODES, 1, dtype=torch.float64).index_add(0, edges[1], x[edges[0], :1].double()).sign().float()
    shuffled = torch.randperm(EDGES, generator=torch.Generator().manual_seed(order))
    return x.to(device), edges[:, shuffled].to(device), target.to(device)


def start(device):
    generator = torch.Generator().manual_seed(2)
    shapes = [(HIDDEN, FEATURES), (HIDDEN, HIDDEN), (1, HIDDEN)]
    return [((2 * torch.rand(shape, generator=generator) - 1) * (3 / shape[1]) ** 0.5).to(device).requires_grad_() for shape in shapes]


def linear(x, weight, exact):
    """Products whose sums deterministic() makes exact; the library that multiplies matrices adds in an order of its own."""
    return (x[:, None, :] * weight).sum(-1) if exact else x @ weight.T


def network(x, edges, weights, exact):
    inner, message, last = weights
    h = linear(x, inner, exact).relu()
    sent = linear(h, message, exact).index_select(0, edges[0])
    h = (h + torch.zeros_like(h).index_add(0, edges[1], sent) * (NODES / EDGES)).relu()
    return linear(h, last, exact)


def train(steps, exact, order, threads, device):
    """A digest of the weights' bits, the last loss, and the seconds that it took."""
    torch.set_num_threads(threads)
    x, edges, target = graph(order, device)
    weights = start(device)
    began = time.perf_counter()
    with pyreduct.torch.deterministic() if exact else contextlib.nullcontext():
        for _ in range(steps):
            loss = (network(x, edges, weights, exact) - target).square().mean()
            for weight, grad in zip(weights, torch.autograd.grad(loss, weights)):
                weight.data -= RATE * grad
    ended = torch.cat([weight.detach().flatten() for weight in weights]).cpu()
    seconds = time.perf_counter() - began
    return hashlib.sha256(ended.numpy().tobytes()).hexdigest()[:16], loss.item(), seconds


def compare(steps, device):
    """Lines that say what came out, and the digests of deterministic(), all of which should be one."""
    runs = [(order, threads) for order in (1, 2) for threads in (1, 2, 4)]  # on a GPU the number of threads changes nothing
    lines, ended = [], {}
    for exact in (False, True):
        train(1, exact, 1, 1, device)  # what happens once
        digests, losses, seconds = zip(*(train(steps, exact, *run, device) for run in runs))
        ended[exact] = set(digests)
        same = len({digest for digest, (order, _) in zip(digests, runs) if order == 1})
        lines.append(f"{'deterministic()' if exact else 'plain PyTorch':15}: {len(ended[exact])} sets of weights in {len(runs)} runs, {same} in "
                     f"the {len(runs) // 2} with one order of the edges; loss {losses[0]:.4f}; the fastest took {min(seconds):.2f} s")  # fmt: skip
    return lines + [f"the weights of deterministic(): {', '.join(sorted(ended[True]))}"], ended[True]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    lines, digests = compare(options.steps, options.device)
    print("\n".join(lines))
    return len(digests) == 1


if __name__ == "__main__":
    raise SystemExit(not main())
