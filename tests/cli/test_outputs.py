"""Files that results are written to: what they replace, and what they leave."""
import os
import resource
import signal
import stat
import struct
import subprocess
import threading
import unittest

from harness import REDUCT, SANITIZED, CommandTest, main, npy_array, pack, start, wait_until, wait_until_caught

VALUES = [1., 2., 4., 8.]


def numbers(data):
    """What a .npy file of two f64 holds."""
    assert data[:6] == b'\x93NUMPY' and b"'shape': (2,)" in data, data
    return list(struct.unpack('<2d', data[-16:]))


class Outputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.input = self.file('a.npy', npy_array('f64', VALUES, '<', (2, 2)))
        self.before = sorted(os.listdir(self.directory))

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def write(self, *args):
        self.assertEqual(self.run_command('sum', '--rows', *args, self.input), (0, '', ''))

    def made(self):
        """Names that were not there before."""
        return sorted(set(os.listdir(self.directory)) - set(self.before))

    def test_new(self):
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        self.write('-o', self.path('new.npy'))
        self.assertEqual(numbers(self.read('new.npy')), [3, 12])
        self.assertEqual(stat.S_IMODE(os.stat(self.path('new.npy')).st_mode), 0o640)
        self.assertEqual(self.made(), ['new.npy'])

    def test_mode_and_owner(self):
        path = self.file('old.npy', 'before')
        for mode in (0o600, 0o666, 0o604):
            os.chmod(path, mode)
            if os.getuid() == 0:
                os.chown(path, 1234, 5678)
            self.write('-o', path)
            self.assertEqual(numbers(self.read('old.npy')), [3, 12])
            there = os.stat(path)
            self.assertEqual(stat.S_IMODE(there.st_mode), mode)
            if os.getuid() == 0:
                self.assertEqual((there.st_uid, there.st_gid), (1234, 5678))

    def test_links(self):
        """They stay, and what they lead to is written, be it there or not."""
        os.mkdir(self.path('there'))
        for old in (True, False):
            if old:
                self.file('there/target', 'before')
            for name, target in (('first', 'there/second'), ('there/second', '../third'), ('third', self.path('there/target'))):
                os.symlink(target, self.path(name))
            self.write('-o', self.path('first'))
            self.assertEqual(numbers(self.read('there/target')), [3, 12])
            self.assertEqual(sorted(os.listdir(self.path('there'))), ['second', 'target'])
            for name in ('first', 'there/second', 'third'):
                self.assertTrue(os.path.islink(self.path(name)))
                os.unlink(self.path(name))
            os.unlink(self.path('there/target'))
        os.symlink('circle', self.path('circle'))
        self.bad(1, self.path('circle') + ': ', 'sum', '--rows', '-o', self.path('circle'), self.input)

    def test_pipe(self):
        path = self.path('pipe')
        os.mkfifo(path)
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read('pipe')))
        reader.start()
        self.write('-o', path)
        reader.join(60)
        self.assertEqual(numbers(got[0]), [3, 12])
        self.assertTrue(stat.S_ISFIFO(os.stat(path).st_mode))
        self.assertEqual(self.made(), ['pipe'])

    def test_device(self):
        """A copy of /dev/full, as a command that replaces devices must not get at those of the machine."""
        path = self.path('full')
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
            open(path, 'wb').close()
        except PermissionError:
            self.skipTest('no devices may be made here')
        self.bad(1, path + ': No space left on device', 'sum', '--rows', '-o', path, self.input)
        self.assertTrue(stat.S_ISCHR(os.stat(path).st_mode))
        self.assertEqual(self.made(), ['full'])

    def test_standard_output(self):
        done = subprocess.run([REDUCT, 'sum', '--rows', '-o', '-', self.input], capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        self.assertEqual(numbers(done.stdout), [3, 12])
        keys, out = self.file('keys.txt', '7 5'), self.path('out.npy')
        done = subprocess.run([REDUCT, 'sum', '--keys', keys, '-o', out, '--output-keys=-',
                                                             self.file('x.txt', '1 2')], capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        self.assertEqual(done.stdout[-16:], pack('i64', [5, 7]))
        self.assertEqual(numbers(self.read('out.npy')), [2, 1])
        reading, writing = os.pipe()
        os.close(reading)
        process = start('sum', '--rows', '-o', '-', self.input, stdout=writing)
        os.close(writing)
        self.assertEqual(process.communicate(timeout=60)[1], b'reduct: standard output: Broken pipe\n')
        self.assertEqual(process.returncode, 1)
        self.assertFalse(os.path.exists('-'))

    def test_refused(self):
        for option in ('--output', '--output-keys'):
            self.bad(2, option + ": found ''; expected the name of a file, or -", 'sum', '--rows', option + '=', self.input)
        self.bad(1, self.directory + ': this is a directory; expected a file', 'sum', '--rows', '-o', self.directory, self.input)
        self.bad(1, 'a.npy/x: Not a directory', 'sum', '--rows', '-o', self.path('a.npy/x'), self.input)
        self.bad(1, 'nowhere/x: No such file', 'sum', '--rows', '-o', self.path('nowhere/x'), self.input)
        if os.getuid() != 0:
            path = self.file('secret', 'before')
            os.chmod(path, 0o444)
            self.bad(1, path + ': Permission denied', 'sum', '--rows', '-o', path, self.input)
            self.assertEqual(self.read('secret'), b'before')
            os.chmod(path, 0o644)
            os.chmod(self.directory, 0o555)
            self.bad(1, ('secret.part', 'which is to take its place, cannot be made: Permission denied'), 'sum', '--rows', '-o', path, self.input)
            os.chmod(self.directory, 0o755)
            self.assertEqual(self.read('secret'), b'before')

    def test_what_fails_leaves_what_was_there(self):
        x, keys, out = self.file('x.txt', '1 2'), self.file('keys.txt', '7 5'), self.file('out.npy', 'before')
        self.bad(1, 'nowhere/k: No such file', 'sum', '--keys', keys, '-o', out, '--output-keys', self.path('nowhere/k'), x)
        os.symlink('out.npy', self.path('link'))
        self.bad(1, 'link: two results are to be written there', 'sum', '--keys', keys, '-o', out, '--output-keys', self.path('link'), x)
        self.assertEqual(self.read('out.npy'), b'before')
        self.assertEqual(self.made(), ['keys.txt', 'link', 'out.npy', 'x.txt'])

    @unittest.skipIf(SANITIZED, 'ThreadSanitizer writes more to files than that')
    def test_a_file_that_may_not_grow(self):
        out = self.file('out.npy', 'before')
        process = start('sum', '--rows', '-o', out, self.input,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
        self.assertEqual(process.communicate(timeout=60), (b'', b'reduct: %s: File too large\n' % out.encode()))
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.read('out.npy'), b'before')
        self.assertEqual(self.made(), ['out.npy'])

    def test_interrupted(self):
        """While it waits for who reads the keys; the results are complete by then, but not in their place."""
        x, keys, out = self.file('x.txt', '1 2'), self.file('keys.txt', '7 5'), self.file('out.npy', 'before')
        os.mkfifo(self.path('pipe'))
        process = start('sum', '--keys', keys, '-o', out, '--output-keys', self.path('pipe'), x)
        wait_until_caught(process, signal.SIGINT)
        wait_until(lambda: 'out.npy.part%d' % process.pid in self.made())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.read('out.npy'), b'before')
        self.assertEqual(self.made(), ['keys.txt', 'out.npy', 'pipe', 'x.txt'])


if __name__ == '__main__':
    main()
