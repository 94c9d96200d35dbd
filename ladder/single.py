#!/usr/bin/env python3
"""Every CUDA rung as one file that compiles alone, from the same sources:

    python3 ladder/single.py [FOLDER]     writes ladder/single/NAME.cu; run it when ladder/cuda/ or ladder/single/main.cuh changes

A file is the rung's own, with what it includes written out in front of it and ladder/single/main.cuh behind it. How it is
launched stands in the table of ladder/cuda_rungs.c. A rung whose line there says more than is known here gets no file: the library's.
"""
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
CUDA = os.path.join(FOLDER, 'cuda')

# Elements that a block takes, by `cover`; whether the grid is as large as the device and no larger.
COVERS = {'ONE': ('THREADS', False), 'TWO': ('2 * THREADS', False), 'WALK': ('THREADS', True), 'PAIRS': ('2 * THREADS', True),
          'VECTORS': ('THREADS * LOADS * (16 / sizeof(T))', True), 'TILES': ('STAGE_BYTES / sizeof(T)', True)}
SHARED = {None: '0', 'ONE': 'THREADS * sizeof(T)', 'RING': 'STAGES * STAGE_BYTES'}
KNOWN = {'step', 'cover', 'shared', 'destroys_input', 'per_block_size', 'producers', 'whole_warps', 'way', 'own_finish', 'cluster'}

# What stands in the place of the launch in main.cuh for the ways of launching that <<<...>>> has no word for.
PLAIN_LAUNCH = '        kernel<T><<<blocks, THREADS, shared_bytes<T>()>>>(input, n, outlet<T>{partials, result, ticket});\n'
WAYS = {'GPU_CUDA_OVERLAPPED': ('cudaLaunchAttributeProgrammaticStreamSerialization', 'programmaticStreamSerializationAllowed'),
        'GPU_CUDA_COOPERATIVE': ('cudaLaunchAttributeCooperative', 'cooperative')}
# What main.cuh asks about resident blocks, and what stands in its place where they come in clusters.
RESIDENT = re.compile(r'        int device, processors, resident;\n.*?most = .*?\n', flags=re.S)
RESIDENT_CLUSTERS = '''        int clusters; // fewer blocks than there would be without
        cudaLaunchConfig_t config = {TOGETHER, THREADS, shared_bytes<T>()};
        CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel<T>, &config));
        uint64_t most = uint64_t(clusters) * TOGETHER;
'''
LAUNCH_BY_ATTRIBUTE = '''        cudaLaunchAttribute attribute = {{}};
        attribute.id = {attribute};
        attribute.val.{value} = 1;
        cudaLaunchConfig_t config = {{blocks, THREADS, shared_bytes<T>(), 0, &attribute, 1}};
        CHECK(cudaLaunchKernelEx(&config, kernel<T>, input, n, outlet<T>{{partials, result, ticket}}));
'''

HEADER = '''//
// This file compiles alone, and is made by ladder/single.py from ladder/cuda/{file}.cu:
//
//     nvcc -O3 -arch={architecture} {name}.cu && ./a.out
'''

# Else nvcc's own choice of an architecture would leave the kernel empty, or be refused where nobody looks for the reason.
NEEDS = '''
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < {number}0
#error "compile this with -arch={architecture} or a newer one: it needs a GPU of compute capability {major}.{minor}"
#endif
'''

LAUNCH = '''
// ---------------------------------------------------------------------------------------------------------------------
// How it is launched
// ---------------------------------------------------------------------------------------------------------------------

constexpr const char *RUNG = "{name}";
constexpr unsigned THREADS = 256; // of a block
// {why}
constexpr bool WALKS = {walks};
// Blocks come in multiples of this.
constexpr unsigned TOGETHER = {together};

template <typename T>{line}__global__ void __launch_bounds__(1024) {cluster}kernel(T *input, uint64_t n, outlet<T> out) {{
{call}
}}

template <typename T> uint64_t blocks_wanted(uint64_t n) {{
    constexpr uint64_t PER_BLOCK = {cover};
    return (n + PER_BLOCK - 1) / PER_BLOCK;
}}

template <typename T> constexpr size_t shared_bytes() {{
    return {shared};
}}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers in, a sum out
// ---------------------------------------------------------------------------------------------------------------------

'''


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def rungs():
    """The lines of cuda_rungs.c, by the name of the file: what each says."""
    table = re.search(r'static const cuda_rung rungs\[\] = \{(.*?)\n\};', read(FOLDER, 'cuda_rungs.c'), flags=re.S).group(1)
    for line in re.findall(r'\{(\.step.*?)\}', table):
        fields = dict(re.findall(r'\.(\w+) = (\w+)', line))
        yield fields['step'].removeprefix('LADDER_').lower(), fields


def has_file(fields):
    cover = fields['cover'].removeprefix('CUDA_COVER_')
    return set(fields) <= KNOWN and cover in COVERS and shared_of(fields) in SHARED


def shared_of(fields):
    return fields['shared'].removeprefix('CUDA_SHARED_') if 'shared' in fields else None


def split(text):
    """A source's first comment, the system's headers, its own headers, and the rest."""
    comment = re.match(r'(?://.*\n)*', text).group(0)
    body = text[len(comment):].replace('#pragma once\n', '')
    system = re.findall(r'#include <(.+?)>', body)
    own = re.findall(r'#include "(.+?)"', body)
    return comment, system, own, re.sub(r'#include .*\n', '', body).strip('\n') + '\n'


def gather(name, system, parts):
    """What a header is made of, those that it includes first; each once."""
    comment, needs, own, body = split(read(CUDA, name))
    system += [header for header in needs if header not in system]
    for header in own:
        if header not in parts:
            gather(header, system, parts)
    body = body.split('// The kernels of a rung')[0].rstrip('\n') + '\n'  # what makes many of a rung; here there is one
    if name == 'rung.cuh':
        comment = comment[:comment.index('// "Elsewhere"')]
    parts[name] = comment.rstrip('\n/ ') + '\n\n' + body


def architecture(name):
    """The least that the rung compiles for, where that is more than any: CMakeLists.txt knows it."""
    for sources, least in re.findall(r'set_property\(SOURCE ([^)]+?) PROPERTY REDUCT_CUDA_LEAST (\d+)\)', read(CUDA, 'CMakeLists.txt')):
        if f'{name}.cu' in sources.split():
            return f'sm_{least}'
    return 'native'


def call(file, fields):
    one = f'{file}<T>(input, n, out);' if 'own_finish' in fields else f'{file}<T, LAST_BLOCK>(input, n, out);'
    if 'per_block_size' not in fields:
        return '    ' + one
    return (f'    if constexpr ((THREADS & (THREADS - 1)) == 0)\n        {file}<T, LAST_BLOCK, THREADS>(input, n, out);\n'
            f'    else\n        {file}_any<T, LAST_BLOCK>(input, n, out);')


def section(parts):
    for name, text in parts.items():
        yield f'// {"-" * 117}\n// {name}\n// {"-" * 117}\n\n{text}'


def single(file, fields):
    """The text of one file."""
    name = file.replace('_', '-')
    comment, system, own, body = split(read(CUDA, file + '.cu'))
    parts = {}
    for header in own:
        gather(header, system, parts)
    body = re.split(r'(?m)^(?:(?://.*\n)*#define|(?://.*\n)*(?:\w+_)?RUNG(?:_KERNEL)?\()', body)[0].rstrip('\n') + '\n'
    cover, walks = COVERS[fields['cover'].removeprefix('CUDA_COVER_')]
    cluster = 'cluster' in fields
    launch = LAUNCH.format(name=name, together='CLUSTER' if cluster else 1, line='\n' if cluster else ' ',
                           cluster='__cluster_dims__(CLUSTER) ' if cluster else '', call=call(file, fields), cover=cover,
                           shared=SHARED[shared_of(fields)],
                           walks='true' if walks else 'false',
                           why='As many blocks as the device holds at once.' if walks else 'As many blocks as n demands.')
    least = architecture(file)
    needs = NEEDS.format(number=least[3:], architecture=least, major=least[3:-1], minor=least[-1]) if least != 'native' else ''
    includes = ''.join(f'#include <{header}>\n' for header in sorted({'stdint.h', *system}))
    main = list(split(read(FOLDER, 'single', 'main.cuh')))
    if 'way' in fields:
        attribute, value = WAYS[fields['way']]
        assert PLAIN_LAUNCH in main[3]
        main[3] = main[3].replace(PLAIN_LAUNCH, LAUNCH_BY_ATTRIBUTE.format(attribute=attribute, value=value))
    if cluster:
        main[3], found = RESIDENT.subn(lambda _: RESIDENT_CLUSTERS, main[3])
        assert found == 1
    parts[f'The rung: {file}.cu'] = body
    return (comment + HEADER.format(file=file, name=name, architecture=least) + needs
            + '\n' + ''.join(f'#include <{header}>\n' for header in main[1]) + '\n' + includes + '\n'
            + '\n'.join(section(parts)) + launch + main[3])


def files():
    """Every file by its name."""
    return {file.replace('_', '-') + '.cu': single(file, fields) for file, fields in rungs() if has_file(fields)}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(FOLDER, 'single')
    for name, text in files().items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8', newline='\n') as file:
            file.write(text)


if __name__ == '__main__':
    main()
