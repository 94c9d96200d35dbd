"""The ladder's files that compile alone: as the script writes them, compiled by nvcc where there is one, and run, on the
emulated GPU, for several numbers of elements.

    test_single.py current              they are what ladder/single.py writes
    test_single.py nvcc NVCC            each compiles, and the experiments beside them
    test_single.py run EMULATED_CUDA [NAME...]    each, or those named, sums rightly; the folder is that of the emulated libcuda.so.1
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
FOLDER = os.path.join(ROOT, 'ladder', 'single')
PROGRAMS = sorted(name for name in os.listdir(FOLDER) if name.endswith('.cu'))
sys.path.insert(0, os.path.join(ROOT, 'ladder'))
sys.dont_write_bytecode = True
import single  # noqa: E402

# All threads of bulk-copy wait in a loop, which the emulated GPU takes for a program that hangs: an array of less than a tile
# has nothing to wait for. scripts/check-gpu runs the rung itself on a GPU.
SIZES = {'bulk-copy.cu': (0, 2003), 'banks.cu': (1, 20)}
EXPERIMENTS = sorted(name for name in os.listdir(os.path.join(ROOT, 'ladder', 'experiments')) if name.endswith('.cu'))
# Not made from a rung.
WRITTEN = {'start.cu', 'banks.cu'}
# More blocks at a time than the emulated GPU has, and a header that only nvcc can read: they are compiled, and run on a GPU alone.
NOT_EMULATED = {'cooperative.cu', 'cluster.cu', 'cg-reduce.cu'}


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def each(check, but=()):
    """Every program that is asked for, but for some, two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(check, [name for name in PROGRAMS if name not in but and (not sys.argv[3:] or name in sys.argv[3:])]))


class Current(unittest.TestCase):
    def test_they_are_what_the_script_writes(self):
        files = single.files()
        self.assertEqual(set(files) | WRITTEN, set(PROGRAMS))
        for name, text in files.items():
            self.assertEqual(text, read(FOLDER, name), f'{name}: python3 ladder/single.py has not been run')

    def test_what_needs_an_architecture_says_so(self):
        """In its nvcc line, as in the folder's page."""
        said = [name for name in PROGRAMS if '-arch=sm_90 ' in read(FOLDER, name)]
        self.assertEqual(said, ['bulk-copy.cu', 'cluster.cu', 'overlapped-launch.cu', 'producer-warp.cu'])
        for name in said:
            self.assertIn(f'`{name}`', read(FOLDER, 'README.md'))

    def test_experiments_are_listed(self):
        self.assertEqual(sorted(re.findall(r'(?m)^\| \[`(\w+\.cu)`\]', read(ROOT, 'ladder', 'experiments', 'README.md'))), EXPERIMENTS)

    def test_the_first_chapter_quotes_its_program(self):
        self.assertIn(f'```cuda\n{read(FOLDER, "start.cu")}```\n', read(ROOT, 'docs', 'ladder', 'start.md'))


class Nvcc(unittest.TestCase):
    def compiles(self, source, *options):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([ARGUMENT, '-O1', *options, source, '-o', os.path.join(folder, 'a.out')], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ''), source)

    def test_each_compiles(self):
        def check(name):
            architecture = re.search(r'-arch=(sm_\d+)', read(FOLDER, name))
            self.compiles(os.path.join(FOLDER, name), f'-arch={architecture.group(1) if architecture else "sm_75"}')
        each(check)

    def test_what_needs_an_architecture_refuses_older_ones(self):
        for name in ('bulk-copy.cu', 'cluster.cu', 'overlapped-launch.cu', 'producer-warp.cu'):
            with tempfile.TemporaryDirectory() as folder:
                result = subprocess.run([ARGUMENT, '-arch=sm_75', os.path.join(FOLDER, name), '-o', os.path.join(folder, 'a.out')], capture_output=True, text=True)
            self.assertNotEqual(result.returncode, 0, name)
            self.assertIn('compile this with -arch=sm_90 or a newer one: it needs a GPU of compute capability 9.0', result.stderr)

    def test_experiments_compile(self):
        for name in EXPERIMENTS:
            self.compiles(os.path.join(ROOT, 'ladder', 'experiments', name), '-std=c++17', '-arch=sm_90', '-I', os.path.join(ROOT, 'ladder', 'cuda'))


class Run(unittest.TestCase):
    def test_each_sums_rightly(self):
        def check(name):
            with tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, 'program')
                subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'tests', 'emulated_cuda', 'program.py'),
                                os.path.join(FOLDER, name), '-o', program], check=True, env={**os.environ, 'EMULATED_CUDA': ARGUMENT})
                for n in SIZES.get(name, (1, 2003)):
                    result = subprocess.run([program, str(n)], capture_output=True, text=True, timeout=120)
                    self.assertEqual(result.returncode, 0, f'{name} {n}: {result.stdout}{result.stderr}')
                    self.assertIn('right', result.stdout)
                    self.assertNotIn('WRONG', result.stdout)
        each(check, NOT_EMULATED)


if __name__ == '__main__':
    wanted, ARGUMENT = sys.argv[1].title(), sys.argv[2] if len(sys.argv) > 2 else None
    unittest.main(argv=[sys.argv[0], wanted])
