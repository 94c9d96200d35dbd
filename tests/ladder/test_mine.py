"""`reduct ladder --mine`, and the exercises: what they begin with is wrong, the answers are right. On the emulated GPU.

    test_mine.py REDUCT EMULATED_CUDA [TEST...]      the folder is that of the emulated libcuda.so.1
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
EXERCISES = os.path.join(ROOT, 'exercises')
REDUCT, EMULATED_CUDA = (os.path.abspath(path) for path in sys.argv[1:3])
NAMES = sorted(name for name in os.listdir(EXERCISES) if os.path.isdir(os.path.join(EXERCISES, name)))

# What is not wrong at the start but slow.
RIGHT_FROM_THE_START = {'beat-a-rung'}

SUM = '''template <typename T> __global__ void mine(const T *input, size_t n, T *sums) {
    T sum = 0;
    for (size_t i = 0; threadIdx.x == 0 && i < blockDim.x; i++)
        sum += blockIdx.x * blockDim.x + i < n ? input[blockIdx.x * blockDim.x + i] : T(0);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
'''


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def ladder(path, *options, n='3000', compiler=None, path_first=None):
    """Runs it with the compiler for the emulated GPU, or another."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(ROOT, 'tests', 'emulated_cuda', 'program.py')
        nvcc = script(folder, 'nvcc', f'#!/bin/sh\nexec "{sys.executable}" -B "{program}" "$@"\n')
        environment = {**os.environ, 'EMULATED_CUDA': EMULATED_CUDA, 'REDUCT_NVCC': compiler or nvcc,
                       'PATH': ':'.join(filter(None, [path_first, os.environ['PATH']]))}
        return subprocess.run([REDUCT, 'ladder', '--mine', path, '--n', n, '--rounds', '2', *options],
                              capture_output=True, text=True, env=environment, timeout=280)


def rows(result):
    return json.loads(result.stdout)['rows']


class Exercises(unittest.TestCase):
    def check(self, name):
        start, answer = (ladder(os.path.join(EXERCISES, name, file), '--json') for file in ('start.cu', 'answer.cu'))
        self.assertEqual(start.returncode, 0 if name in RIGHT_FROM_THE_START else 1, f'{name}: {start.stdout}{start.stderr}')
        self.assertNotIn('does not compile', start.stderr, name)
        self.assertEqual(answer.returncode, 0, f'{name}: {answer.stdout}{answer.stderr}')
        self.assertEqual([row['verdict'] for row in rows(answer) if row['type'] or 'sizes' in row['variant']], ['right'] * 4, name)

    def test_some(self):
        for name in ('rows', 'the-last-warp'):
            self.check(name)

    def test_all(self):
        self.assertEqual(len(NAMES), 8)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.check, NAMES))

    def test_each_has_its_texts(self):
        for text in ('README.md', 'README.zh.md'):
            with open(os.path.join(EXERCISES, text), encoding='utf-8') as file:
                contents = file.read()
            for name in NAMES:
                self.assertIn(f'({name}/{text})', contents)
        for name in NAMES:
            self.assertEqual(set(os.listdir(os.path.join(EXERCISES, name))),
                             {'README.md', 'README.zh.md', 'start.cu', 'answer.cu', 'start.wgsl', 'answer.wgsl'})


class Command(unittest.TestCase):
    def test_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            result = ladder(script(folder, 'my.cu', SUM), '--json', '--type', 'all')
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        checked = [row for row in rows(result) if row['group'] != 'rungs']
        self.assertEqual([row['variant'] for row in checked],
                         ['i32, many sizes', 'f32, many sizes', 'f64, many sizes', 'racecheck', 'memcheck'])
        timed = [row for row in rows(result) if row['group'] == 'rungs']
        self.assertEqual([(row['name'], row['variant'], row['type'], row['n'], row['block'], row['verdict']) for row in timed],
                         [('mine', 'recursive', kind, 3000, 256, 'right') for kind in ('i32', 'f32', 'f64')])
        self.assertGreater(timed[0]['seconds'], 0)

    def test_nothing_cannot_be_timed(self):
        result = ladder(os.path.join(EXERCISES, 'beat-a-rung', 'answer.cu'), n='1000,0')
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertIn('--mine: your kernel is timed on --n elements; expected at least 1, found 0', result.stderr)

    def test_a_fixed_grid_is_launched_twice(self):
        result = ladder(os.path.join(EXERCISES, 'beat-a-rung', 'answer.cu'), '--json')
        self.assertEqual([row['variant'] for row in rows(result) if row['group'] == 'rungs'], ['second-launch'])

    def test_sums_of_rows_stand_apart(self):
        result = ladder(os.path.join(EXERCISES, 'rows', 'answer.cu'), '--json')
        self.assertEqual(result.returncode, 0)
        row = rows(result)[-1]
        self.assertEqual((row['group'], row['variant'], row['n'], row['bytes']), ('rows of 1024', 'sums of rows', 2048, 8192))
        self.assertEqual(row['note'], "not ranked: its rungs are those of 'reduct ladder rows --n 2048 --columns 1024'")
        self.assertGreater(row['bytes_per_second'], 0)

    def test_the_sanitizer_is_asked(self):
        tool = '#!/bin/sh\necho "========= COMPUTE-SANITIZER"\necho "========= Error: Race reported at line 7"\nexit 9\n'
        with tempfile.TemporaryDirectory() as folder:
            script(folder, 'compute-sanitizer', tool)
            result = ladder(script(folder, 'my.cu', SUM), '--json', path_first=folder)
        found = {row['variant']: (row['verdict'], row['note']) for row in rows(result)}
        self.assertEqual(found['racecheck'], ('wrong', 'Error: Race reported at line 7'))
        self.assertEqual(result.returncode, 1)

    def test_what_does_not_compile_is_named_by_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            result = ladder(script(folder, 'my.cu', SUM.replace('T sum = 0;', 'T sum = nothing;')))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r'my\.cu:2:.*nothing')
        self.assertIn('my.cu does not compile', result.stderr)

    def test_without_a_compiler_or_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = script(folder, 'my.cu', SUM)
            result = ladder(path, compiler=os.path.join(folder, 'none'))
            self.assertIn("none' is not here, which compiles CUDA", result.stderr)
            self.assertEqual(result.returncode, 1)
            result = ladder(os.path.join(folder, 'no.cu'))
            self.assertIn('no.cu: No such file', result.stderr)
            self.assertEqual(result.returncode, 1)

    def test_shaders_are_told_where_to_go(self):
        for name, language in (('my.wgsl', 'WGSL'), ('my.comp', 'GLSL'), ('my.hlsl', 'HLSL'), ('my.slang', 'Slang')):
            with tempfile.TemporaryDirectory() as folder:
                result = ladder(script(folder, name, 'fn rung() {}'))
            self.assertRegex(result.stderr, rf'{name} is in {language}; expected a kernel in CUDA .*the page')
            self.assertEqual((result.returncode, result.stderr.count('\n')), (1, 1))

    def test_what_crashes_is_said(self):
        crash = SUM.replace('T sum = 0;', 'T sum = *(volatile T *)nullptr;')
        with tempfile.TemporaryDirectory() as folder:
            result = ladder(script(folder, 'my.cu', crash))
        self.assertIn('the kernel was stopped: it crashed', result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_it_is_for_cuda(self):
        result = ladder('my.cu', '--device', 'cpu')
        self.assertEqual(result.returncode, 2)
        self.assertIn('--mine: only GPUs have it', result.stderr)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
