"""The command under a launcher: it prints once, the same bytes as one process, whatever it reduces and however many ranks there are.

  test_command.py COMMAND NUMBER_OF_RANKS,... LAUNCHER [OPTION...]
"""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

# Launchers take half a second each: with one number of ranks, as in the quick tier, only what matters most is run.
COMMAND, RANKS, LAUNCHER = os.path.abspath(sys.argv[1]), [int(n) for n in sys.argv[2].split(',')], sys.argv[3:]
LONG = len(RANKS) > 1
MAPS = os.environ.get('REDUCT_TEST_MAPS_LIBRARY')  # by which mapping files fails
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(('OMPI_', 'PMI', 'SLURM_', 'REDUCT_RANKS'))}


def run(words, ranks=0, command=COMMAND, stdin=b'', **more):
    """What the command prints, its own messages, and its status; 0 ranks: without a launcher."""
    launcher = [*LAUNCHER, '-n', str(ranks)] if ranks else []
    done = subprocess.run([*launcher, command, *words], input=stdin, capture_output=True, check=False, timeout=100,
                          env={**ENVIRONMENT, **more})
    said = [line for line in done.stderr.decode(errors='replace').splitlines() if line.startswith('reduct')]
    return done.stdout, said, done.returncode


def npy(values, code='d', name='<f8', fortran=False, shape=None):
    header = repr({'descr': name, 'fortran_order': fortran, 'shape': shape or (len(values),)}).encode()
    header += b' ' * (-(len(header) + 11) % 64) + b'\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + struct.pack(f'<{len(values)}{code}', *values)


class UnderLauncher(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        random.seed(7)
        self.values = [random.uniform(-1, 1) * 10.0 ** random.randint(-200, 200) for _ in range(5003)]

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, data):
        path = os.path.join(self.folder.name, name)
        with open(path, 'wb') as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path

    def same(self, *words, stdin=b''):
        expected = run(words, stdin=stdin)
        for ranks in RANKS:
            self.assertEqual(run(words, ranks, stdin=stdin), expected, f'{words} on {ranks} ranks')
        return expected

    def test_arrays(self):
        every = 'sum,mean,std,norm1,norm2,min,max,minmax,ptp,argmin,argmax,count,any,all'
        a = self.file('a.npy', npy(self.values))
        b = self.file('b.npy', npy(self.values[:3]))  # fewer than there are ranks
        self.same(every, a, b, a)
        self.same('dot,sum,argmax', a, a)
        if not LONG:
            return
        self.same(every, '--type', 'f64', '--format', 'raw', '--offset', '128', a)
        self.same('weighted-mean', '--hex', a, a)
        bytes_ = self.file('c.npy', npy([random.randrange(-128, 128) for _ in range(1001)], 'b', '|i1'))
        self.same('sum,and,xor,argmax,product', bytes_)

    def test_directories(self):
        shards = os.path.join(self.folder.name, 'shards')
        os.mkdir(shards)
        for i in range(3):
            self.file(f'shards/{i}.npy', npy(self.values[1000 * i:1000 * i + 999]))
        self.same('sum,argmin,count', shards)
        if not LONG:
            return
        self.file('shards/3', '1 2 3')
        self.assertIn('3: this is text', self.same('sum', shards)[1][0])
        os.mkdir(os.path.join(shards, '4'))
        self.assertIn('4: this is a directory', self.same('sum', shards)[1][0])

    def in_folders(self, ranks, *words):
        """The command in a folder of each rank's own, as on hosts that do not share their disks."""
        script = self.file('start', f'#!/bin/sh\ncd "{self.folder.name}/${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"\nexec "{COMMAND}" "$@"\n')
        os.chmod(script, 0o755)
        return run(words, ranks, command=script)

    @unittest.skipUnless(LONG, 'in the long tier')
    def test_directories_that_differ(self):
        """Then rank 0 reduces what it sees."""
        for rank, name in enumerate(('a', 'b')):
            os.makedirs(os.path.join(self.folder.name, str(rank), 'shards'))
            self.file(f'{rank}/shards/{name}', npy([1.0 + 99 * rank] * 10))
        self.assertEqual(self.in_folders(2, 'sum', 'shards'), (b'10\n', [], 0))

    def test_sizes_that_differ(self):
        for rank in range(3):
            os.makedirs(os.path.join(self.folder.name, str(rank), 'shards'))
            for shard in range(5):
                self.file(f'{rank}/shards/{shard}', '1 ' * (20 + (rank == 2 and shard > 2)))
            self.file(f'{rank}/a.txt', '1 ' * (10 if rank == 0 else 11))
        self.assertEqual(self.in_folders(3, 'sum', 'shards', 'a.txt'),
                         (b'', ['reduct: shards/3: 42 bytes on rank 2; expected 40, as on rank 0'], 1))
        if LONG:
            self.assertEqual(self.in_folders(3, 'sum', 'a.txt'),
                             (b'', ['reduct: a.txt: 22 bytes on rank 1; expected 20, as on rank 0'], 1))
            self.assertEqual(self.in_folders(2, 'sum', 'shards'), (b'100\n', [], 0))

    @unittest.skipUnless(LONG, 'in the long tier')
    def test_orders_and_what_stays_whole(self):
        f = self.file('f.npy', npy(self.values[:5000], fortran=True, shape=(50, 100)))
        self.same('sum,argmin', f)
        self.same('sum', '--axis', '0', f)
        self.same('dot', f, f)
        a = self.file('a.npy', npy(self.values))
        self.same('product', a)
        self.same('sum', '--mode', 'fast', a)
        self.same('sum', stdin=b'1 2 3')

    def test_pipes(self):
        """Which rank 0 alone opens, whatever their names."""
        data = npy(self.values)
        self.same('sum', '/dev/stdin', stdin=data)
        if not LONG:
            return
        a = self.file('a.npy', data)
        self.same('sum,count', a, '/dev/stdin', a, stdin=data)
        self.same('sum', '--mask', '/dev/stdin', a, stdin=npy([True, False] * 2501 + [True], '?', '|b1'))
        pipe = os.path.join(self.folder.name, 'pipe')
        os.mkfifo(pipe)
        expected = run(['sum', a])
        for ranks in RANKS:
            writer = threading.Thread(target=lambda: open(pipe, 'wb').write(data), daemon=True)
            writer.start()
            self.assertEqual(run(['sum', pipe], ranks), expected, f'{ranks} ranks')
            writer.join(10)

    def test_text(self):
        lines = '\n'.join(map(repr, self.values))
        self.same('sum,max,std', self.file('a.txt', lines), self.file('b.txt', '\ufeff' + lines + '\n'))
        if not LONG:
            return
        self.same('sum', self.file('c.txt', ''), self.file('d.txt', '  \n 1.5'), self.file('e.txt', '12345678901234567890'))
        self.same('argmin', self.file('f.txt', lines))
        for size in range(1, 12):  # every way to cut numbers in two
            self.same('sum', self.file('g.txt', ' '.join(str(10 ** (i % 7)) for i in range(size))))

    @unittest.skipUnless(LONG, 'in the long tier')
    def test_text_that_cannot_be_mapped(self):
        """From some time on: then parts are read, and end where they would have."""
        path = self.file('a.txt', '\n'.join(map(repr, self.values)))
        expected = run(['sum,count', path])
        for first in range(1, 6):
            for ranks in RANKS:
                found = run(['sum,count', path], ranks, LD_PRELOAD=MAPS, REDUCT_TEST_MAPS=str(first))
                self.assertEqual(found, expected, f'{ranks} ranks, from mapping {first} on')

    def test_errors(self):
        good = '\n'.join(map(str, range(1000)))
        cases = ([self.file('a.txt', good + '\nthree\n' + good)], ['/nowhere'], ['--nope'],
                      ['--nan', 'error', self.file('b.txt', good + ' nan ' + good)],
                      ['--type', 'i64', '--result', 'i64', self.file('c.txt', '9223372036854775807 ' * 50)])
        for words in cases if LONG else cases[:1]:
            _, said, status = self.same('sum', *words)
            self.assertTrue(said)
            self.assertNotEqual(status, 0)
        if LONG:
            self.same('mean', self.file('d.txt', ''))

    @unittest.skipUnless(LONG, 'in the long tier')
    def test_other_subcommands(self):
        self.assertEqual(run(['--version'], 3), run(['--version']))
        self.assertEqual(run(['sum', '--help'], 2), run(['sum', '--help']))
        out, said, status = run(['bench'], 2)
        self.assertEqual((out, status), (b'', 2))
        self.assertIn('ranks of a launcher', said[0])

    def test_without_library(self):
        alone = os.path.join(self.folder.name, 'reduct')
        shutil.copy(COMMAND, alone)
        a = self.file('a.npy', npy(self.values))
        out, said, status = run(['sum', a], 3, command=alone)
        self.assertEqual((out, len(said), status), (b'', 1, 1), said)
        self.assertIn('libreduct_mpi', said[0])
        if not LONG:
            return
        out, _, status = run(['sum', a], 3, command=alone, REDUCT_RANKS='alone')
        self.assertEqual((out, status), (3 * run(['sum', a])[0], 0))

    @unittest.skipUnless(LONG, 'in the long tier')
    def test_one_rank_that_fails(self):
        """Before it is connected: it says why, once, and the others end."""
        a = self.file('a.npy', npy(self.values))
        alone = os.path.join(self.folder.name, 'reduct')
        shutil.copy(COMMAND, alone)
        for other, why in ((f'"{alone}" sum "{a}"', 'libreduct_mpi'), (f'"{COMMAND}" summ "{a}"', 'summ'), (f'"{COMMAND}" bench', 'bench'),
                           (f'"{COMMAND}" max "{a}"', 'different command lines'), (f'REDUCT_RANKS=one "{COMMAND}" sum "{a}"', 'expected alone')):
            script = self.file('start', f'#!/bin/sh\n[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ] && exec env {other}\n'
                               f'exec "{COMMAND}" sum "{a}"\n')
            os.chmod(script, 0o755)
            out, said, status = run([], 3, command=script)
            self.assertEqual((out, len(said), status), (b'', 1, 1), said)
            self.assertIn(why, said[0])

    def test_words_about_ranks(self):
        a = self.file('a.npy', npy(self.values))
        for ranks in (0, *RANKS):
            self.assertEqual(run(['sum', a], ranks, REDUCT_RANKS='one'), (
                b'', ["reduct: REDUCT_RANKS in the environment: found 'one'; expected alone, or nothing"], 1))
        self.assertEqual(run(['sum', a], REDUCT_RANKS=''), run(['sum', a]))

    def test_library_that_does_not_know_the_launcher(self):
        """Then MPI takes each process for the only one. As under srun with an MPI library that was built without its interface."""
        for rank, size in (('OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'), ('PMI_RANK', 'PMI_SIZE')):
            out, said, status = run(['sum', self.file('a.txt', '1')], **{rank: '0', size: '3'})
            self.assertEqual((out, len(said), status), (b'', 1, 1), said)
            self.assertRegex(said[0], 'number 0 of 1|cannot be used')  # where the other library is not there

    def test_slurm_without_a_connection(self):
        out, said, status = run(['sum', self.file('a.txt', '1')], SLURM_PROCID='0', SLURM_STEP_NUM_TASKS='2')
        self.assertEqual((out, status), (b'', 1))
        self.assertIn('srun', said[0])
        self.assertEqual(run(['sum', self.file('a.txt', '1')], SLURM_PROCID='0', SLURM_STEP_NUM_TASKS='1')[0], b'1\n')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
