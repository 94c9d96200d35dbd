"""Compiles a whole CUDA program, in one file, for the emulated GPU: translate.py, and launches as calls of runtime.h.

    program.py SOURCE -o OUTPUT      other options of nvcc are for GPUs, and passed over

EMULATED_CUDA in the environment names the folder of the emulated libcuda.so.1."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLAIN = {r'\n\t': ''}  # ends of lines within asm statements
LAUNCH = re.compile(r'([\w:]+(?:<[\w, ]+>)?)<<<(.*?)>>>\((.*?)\);', re.S)


def translated(source, folder):
    """The program, as a file in a folder, such as a compiler of the host takes it."""
    plain, path = (os.path.join(folder, os.path.basename(source) + ending) for ending in ('', '.cpp'))
    with open(source) as file:
        text = file.read()
    for words, other in PLAIN.items():
        text = text.replace(words, other)
    with open(plain, 'w') as copy:
        copy.write(text)
    subprocess.run([sys.executable, '-B', os.path.join(HERE, 'translate.py'), plain, path], check=True)
    with open(path) as file:
        text = file.read()
    with open(path, 'w') as file:
        file.write(LAUNCH.sub(r'emulated_launch([&] { \1(\3); }, \2);', text))
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('source')
    parser.add_argument('-o', dest='output', required=True)
    options, _ = parser.parse_known_args()
    library = os.environ['EMULATED_CUDA']
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ.get('CXX', 'c++'), '-std=c++17', '-O1', '-D__CUDA_ARCH__=900', f'-I{HERE}', '-include',
                   os.path.join(HERE, 'runtime.h'), '-ffp-contract=off', '-fno-strict-aliasing',
                   translated(options.source, folder), '-o', options.output, os.path.join(library, 'libcuda.so.1'),
                   f'-Wl,-rpath,{library}']
        sys.exit(subprocess.run(command).returncode)


if __name__ == '__main__':
    main()
