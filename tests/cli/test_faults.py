"""Outputs that cannot be written, files that change, memory and threads that cannot be had."""
import itertools
import os
import resource
import shutil
import subprocess
import threading
import time
import unittest

from harness import REDUCT, SANITIZED, CommandTest, main, npy_array, start, needs_every_part, wait_until_it_waits


def failed(test, process, needle):
    _, err = process.communicate(timeout=60)
    test.assertEqual(process.returncode, 1, err)
    test.assertTrue(err.startswith(b'reduct: '), err)
    test.assertIn(needle, err)


class Output(CommandTest):
    COMMANDS = (('sum',), ('--help',), ('sum', '--help'), ('--version',), ('sum', '--version'))

    def test_full(self):
        for command in self.COMMANDS:
            with open('/dev/full', 'wb') as full:
                failed(self, start(*command, stdin=subprocess.DEVNULL, stdout=full),
                       b'standard output: No space left on device')

    def test_closed(self):
        for command in self.COMMANDS:
            failed(self, start(*command, stdin=subprocess.DEVNULL, stdout=None, preexec_fn=lambda: os.close(1)),
                   b'standard output: Bad file descriptor')

    def test_pipe_without_a_reader(self):
        for command in self.COMMANDS:
            reading, writing = os.pipe()
            os.close(reading)
            process = start(*command, stdin=subprocess.DEVNULL, stdout=writing)
            os.close(writing)
            failed(self, process, b'standard output: Broken pipe')

    def limit(self, size):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    @needs_every_part
    def test_a_file_that_may_not_grow(self):
        size = 16 << 20  # ThreadSanitizer needs to write some of its own
        path = os.path.join(self.directory, 'out')
        with open(path, 'wb') as file:
            file.truncate(size)
        for command in self.COMMANDS:
            with open(path, 'ab') as file:
                failed(self, start(*command, stdin=subprocess.DEVNULL, stdout=file, preexec_fn=self.limit(size)),
                       b'standard output: File too large')

    @needs_every_part
    @unittest.skipIf(SANITIZED, 'ThreadSanitizer writes more to files than a page has')
    def test_a_page_that_may_not_grow(self):
        page = os.path.join(self.directory, 'page.html')
        failed(self, start('ladder', '--device', 'cpu', '--n', '1000', '--rounds', '1', '--html', page,
                           preexec_fn=self.limit(0)), page.encode() + b': File too large')

    def test_read_only(self):
        with open('/dev/null', 'rb') as null:
            failed(self, start('sum', stdin=subprocess.DEVNULL, stdout=null), b'standard output: Bad file descriptor')

    def test_the_first_failure_counts(self):
        """A closed output is no news where there is nothing to write."""
        process = start('sum', '--bogus', stdout=None, preexec_fn=lambda: os.close(1))
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2)
        self.assertNotIn(b'standard output', err)


class Inputs(CommandTest):
    def test_cut_short_while_it_is_read(self):
        """The file is mapped when it shrinks; the pipe beside it tells when."""
        size = 64 << 20
        path = os.path.join(self.directory, 'shrinking')
        with open(path, 'wb') as file:
            file.truncate(size)
        for arguments, order in (((path, '-'), 'first'), (('-', path), 'second')):
            os.truncate(path, size)
            process = start('dot', '--format', 'raw', '--type', 'f64', *arguments)
            process.stdin.write(bytes(8 << 12))
            process.stdin.flush()
            wait_until_it_waits(process, path)
            os.truncate(path, 0)
            try:
                process.stdin.write(bytes(1 << 20))
                process.stdin.flush()
            except BrokenPipeError:
                pass
            try:
                failed(self, process, path.encode() + b': the file was cut short')
            except BrokenPipeError:
                pass

    def test_a_page_cut_short_while_it_is_read(self):
        """What is missing of a page that is there reads as zeros."""
        path = self.file('cut.bin', bytes(range(1, 9)) * 100)
        process = start('dot', '--format', 'raw', '--type', 'u8', path, '-')
        process.stdin.write(b'1' * 50)
        process.stdin.flush()
        wait_until_it_waits(process, path)
        os.truncate(path, 799)
        process.stdin.write(b'1' * 750)
        failed(self, process, path.encode() + b': the file was cut short while it was read: it has 799 bytes; expected 800')

    def test_growing_while_it_is_read(self):
        """What the file had at first ends within a number."""
        for before, after, expected in (('1 2 3', '45 6\n', None), ('1 2\n3', '45\n', None), ('1 2 3', ' 4', None),
                                        ('1 2 3\n', '45 6\n', b'14\n'), ('1 2 3', '', b'14\n')):
            path = self.file('growing.txt', before)
            process = start('dot', '-', path)
            process.stdin.write(b'1')
            process.stdin.flush()
            wait_until_it_waits(process, path)
            with open(path, 'a') as file:
                file.write(after)
            process.stdin.write(b' 2 3')
            if expected is None:
                failed(self, process, path.encode() + b":%d:%d: '3' may be the beginning" %
                       ((2, 1) if '\n' in before else (1, 5)))
            else:
                out, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, out, err), (0, expected, b''))

    def test_changing_while_it_is_read(self):
        """The end of a piece of text, which decides how long it is, becomes many numbers while those before are read."""
        piece = 1 << 20
        path = self.file('changing.txt', b'1 ' * (piece // 2) + b'0' * 60000 + b'\n')
        stop = threading.Event()

        def change():
            with open(path, 'r+b', buffering=0) as file:
                states = itertools.cycle((b'0 ' * 30000, b'0' * 60000))
                while not stop.is_set():
                    os.pwrite(file.fileno(), next(states), piece)
                    time.sleep(.002)
        thread = threading.Thread(target=change)
        thread.start()
        try:
            changed = 0
            for _ in range(300):
                if changed == 5:
                    break
                code, out, err = self.run_command('sum', '-j1', path)
                if code == 0:
                    self.assertEqual((out, err), ('%d\n' % (piece // 2), ''))
                else:
                    self.assertEqual((code, out), (1, ''), err)
                    self.assertTrue(err.startswith('reduct: ' + path), err)
                changed += 'changed while it was read' in err
        finally:
            stop.set()
            thread.join()
        self.assertGreater(changed, 0)

    def test_read_errors(self):
        """Reading a process's memory at address 0 fails, as a broken disk does."""
        failed(self, start('sum', '--format', 'raw', '--type', 'u8', '/proc/self/mem'), b'/proc/self/mem: ')

    def test_named_pipes_that_close(self):
        path = os.path.join(self.directory, 'fifo')
        os.mkfifo(path)
        process = start('sum', path)
        with open(path, 'wb') as fifo:
            fifo.write(npy_array('f64', [1, 2, 3])[:-4])
        failed(self, process, b'cut short')


class Limits(CommandTest):
    def test_no_more_threads(self):
        """Then it works with those that it has."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            if os.getuid() == 0:
                os.setresuid(65534, 65534, 65534)
        os.chmod(self.directory, 0o755)
        command = shutil.copy(REDUCT, self.directory)  # a build in root's home is out of reach for who is not root
        text = self.file('a.txt', '1.5 ' * (2 << 20))
        array = self.file('a.npy', npy_array('f64', [0.5] * (2 << 20), '>'))
        for path, expected in ((text, b'3145728\n'), (array, b'1048576\n')):
            environment = dict(os.environ, ASAN_OPTIONS='detect_leaks=0')  # which takes a thread of its own
            process = start('sum', '--threads', '8', path, executable=command, preexec_fn=limit, env=environment)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, err), (0, expected, b''))

    @unittest.skipIf(SANITIZED, 'sanitizers need address space of their own')
    @needs_every_part
    def test_help_without_memory(self):
        """Where there is enough to start, there is enough for help and for a mistake."""
        def run(kibibytes, *arguments):
            limit = (kibibytes << 10, kibibytes << 10)
            process = start(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
            process.communicate(timeout=60)
            return process.returncode
        low, high = 256, 1 << 20
        while high - low > 4:
            middle = (low + high) // 2
            low, high = (low, middle) if run(middle, '--version') == 0 else (middle, high)
        for more in (0, 4, 16, 64, 128, 132, 136, 256):
            for part in ((), ('sum',), ('ladder',), ('bench',)):
                for option in ('--help', '--usage'):
                    self.assertEqual(run(high + more, *part, option), 0, (more, part, option))
                self.assertEqual(run(high + more, *part, '--bogus'), 2, (more, part))

    @unittest.skipIf(SANITIZED, 'sanitizers need address space of their own')
    def test_no_memory(self):
        """Whatever the limit, it ends in an answer or in a message. Below some limit, that depends on how large the
        program is, the system cannot even start it: there it says nothing of its own version either."""
        text = self.file('a.txt', '1.5 ' * (2 << 20))
        answers = set()
        for mebibytes in (8, 12, 16, 20, 24, 32, 48, 64, 128, 256, 1024):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
            process = start('--version', preexec_fn=limit)
            process.communicate(timeout=60)
            if process.returncode != 0:
                continue
            process = start('sum', '--threads', '4', text, preexec_fn=limit)
            out, err = process.communicate(timeout=60)
            if process.returncode == 0:
                self.assertEqual((out, err), (b'3145728\n', b''))
            else:
                self.assertEqual((process.returncode, out), (1, b''), err)
                self.assertTrue(err.startswith(b'reduct: '), err)
            answers.add(process.returncode)
        self.assertEqual(answers, {0, 1})


if __name__ == '__main__':
    main()
