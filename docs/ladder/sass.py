#!/usr/bin/env python3
"""Counts the instructions of the rungs' machine code: what the compiler made of them, as JSON on standard output.

    python3 docs/ladder/sass.py [--architecture sm_90] >docs/ladder/sass.json

Needs nvcc and cuobjdump of the CUDA toolkit (NVCC and CUOBJDUMP in the environment name others), but no GPU.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'ladder', 'cuda')

# File and kernel: the f32 sum of each rung, and i32 where it is made differently.
WANTED = [('global_halving', 'global_halving_f32_store'), ('neighbour_modulo', 'neighbour_modulo_f32_store'),
          ('neighbour_strided', 'neighbour_strided_f32_store'), ('halving', 'halving_f32_store'),
          ('first_add', 'first_add_f32_store'), ('last_warp', 'last_warp_f32_store'),
          ('unrolled', 'unrolled_f32_store_256'), ('grid_stride', 'grid_stride_f32_store'),
          ('harris_seven', 'harris_seven_f32_store_256'), ('shuffle', 'shuffle_f32_store'), ('shuffle', 'shuffle_i32_store'), ('warp_reduce', 'warp_reduce_f32_store'),
          ('warp_reduce', 'warp_reduce_i32_store'), ('cg_reduce', 'cg_reduce_f32_store'), ('cg_reduce', 'cg_reduce_i32_store'),
          ('vector_loads', 'vector_loads_f32_store'), ('one_launch', 'one_launch_f32_last'),
          ('overlapped_launch', 'overlapped_launch_f32_last'), ('cooperative', 'cooperative_f32_last'),
          ('cluster', 'cluster_f32_last'), ('bulk_copy', 'bulk_copy_f32_last'), ('producer_warp', 'producer_warp_f32_last')]

# What is counted: a name for people, and the opcodes.
CLASSES = [('add', r'FADD|IADD3?|VIADD'), ('global load', r'LDG\.|LDG$|LD\.|LD$'), ('of 16 bytes', r'LDG\..*128'),
           ('shared load', r'LDS'), ('shared store', r'STS'), ('block barrier', r'BAR'),
           ('warp barrier', r'WARPSYNC'), ('shuffle', r'SHFL'), ('warp reduction', r'REDUX'), ('branch', r'BRA'),
           ('reciprocal', r'MUFU')]

INSTRUCTION = re.compile(r'^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)')


def opcodes(listing):
    """Opcodes of a listing by cuobjdump --dump-sass; padding is left out."""
    found = (INSTRUCTION.match(line) for line in listing.split('\n'))
    return [match.group(1) for match in found if match and match.group(1) != 'NOP']


def count(codes):
    return {name: sum(re.match(pattern, code) is not None for code in codes) for name, pattern in CLASSES}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--architecture', default='sm_90')
    architecture = parser.parse_args().architecture
    nvcc, cuobjdump = os.environ.get('NVCC', 'nvcc'), os.environ.get('CUOBJDUMP', 'cuobjdump')
    release = re.search(r'release (\S+),', run(nvcc, '--version')).group(1)
    kernels = []
    with tempfile.TemporaryDirectory() as folder:
        for name, kernel in WANTED:
            cubin = os.path.join(folder, name + '.cubin')
            if not os.path.exists(cubin):
                run(nvcc, '-std=c++17', '-O3', '-fmad=false', '-arch=' + architecture, '-cubin',
                    os.path.join(KERNELS, name + '.cu'), '-o', cubin)
            codes = opcodes(run(cuobjdump, '--dump-sass', '--function', kernel, cubin))
            if not codes:
                sys.exit(f'sass.py: {cuobjdump} shows no kernel {kernel}')
            kernels.append({'kernel': kernel, 'total': len(codes), 'counts': count(codes)})
    json.dump({'compiler': f'nvcc {release}', 'architecture': architecture, 'kernels': kernels}, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main()
