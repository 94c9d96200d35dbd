"""A small graph network that learns on a graph made from a seed: within deterministic() its weights end with the same bits in every run,
with any number of threads, and whatever the order in which the edges are listed; that order stands for the one in which the atomic
additions of a GPU meet. Beside it plain PyTorch. Prints how many different sets of weights each has, and what it costs.

    python examples/torch_graph.py [STEPS [DEVICE]]
"""
import contextlib
import hashlib
import sys
import time

import torch

import pyreduct.torch

NODES, EDGES, FEATURES, HIDDEN = 400, 4000, 8, 16
RATE = 0.05


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
    place = edges[1][:, None].expand_as(sent)
    h = (h + torch.zeros_like(h).scatter_add(0, place, sent) / (EDGES / NODES)).relu()
    return linear(h, last, exact)


def train(steps, exact, order, threads, device):
    """A digest of the weights' bits, and the last loss."""
    torch.set_num_threads(threads)
    x, edges, target = graph(order, device)
    weights = start(device)
    with pyreduct.torch.deterministic() if exact else contextlib.nullcontext():
        for _ in range(steps):
            loss = (network(x, edges, weights, exact) - target).square().mean()
            for weight, grad in zip(weights, torch.autograd.grad(loss, weights)):
                weight.data -= RATE * grad
    ended = torch.cat([weight.detach().flatten() for weight in weights]).cpu()
    return hashlib.sha256(ended.numpy().tobytes()).hexdigest(), loss.item()


def main(steps=100, device="cpu"):
    runs = [(order, threads) for order in (1, 2) for threads in (1, 2, 4)]
    ended = {}
    for exact in (False, True):
        ended[exact], seconds = [], float("inf")
        for run in runs:
            began = time.perf_counter()
            ended[exact].append(train(int(steps), exact, *run, device))
            seconds = min(seconds, time.perf_counter() - began)
        same = len({digest for (digest, _), (order, _) in zip(ended[exact], runs) if order == 1})
        print(f"{'deterministic()' if exact else 'plain PyTorch':15}: {len({digest for digest, _ in ended[exact]})} sets of weights in {len(runs)} runs, "
              f"{same} of those with the edges in one order; loss {ended[exact][0][1]:.4f}; the fastest took {seconds:.2f} s")  # fmt: skip
    print(f"the weights of deterministic(): {ended[True][0][0][:16]}")
    return len({digest for digest, _ in ended[True]}) == 1


if __name__ == "__main__":
    raise SystemExit(not main(*sys.argv[1:]))
