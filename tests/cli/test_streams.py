"""Pipes, terminals, files larger than memory should be, interruptions."""
import fcntl
import os
import pty
import signal
import struct
import termios
import time

from harness import (SANITIZED, CommandTest, main, npy_array, pack, start, text_of, needs_every_part, wait_until, wait_until_caught,
                     wait_until_open)

ZEROS = ('--format', 'raw', '--type', 'f64', '/dev/zero')


def finish(process, timeout=60):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


class Pipes(CommandTest):
    def test_pieces_of_any_length(self):
        data = pack('f64', [float(i) for i in range(1000)])
        process = start('sum', '--format', 'raw', '--type', 'f64')
        at = 0
        for size in (1, 2, 3, 5, 7, 11, 13, 501, 4099):
            process.stdin.write(data[at:at + size])
            process.stdin.flush()
            at += size
            time.sleep(.06)
        process.stdin.write(data[at:])
        self.assertEqual(finish(process), (0, b'499500\n', b''))

    def test_stopped_and_continued(self):
        """System calls that a stop interrupts are taken up again."""
        process = start('sum')
        for i in range(5):
            process.stdin.write(b'%d ' % i)
            process.stdin.flush()
            time.sleep(.02)
            process.send_signal(signal.SIGSTOP)
            time.sleep(.01)
            process.send_signal(signal.SIGCONT)
        self.assertEqual(finish(process), (0, b'10\n', b''))

    def test_that_do_not_block(self):
        """A pipe in non-blocking mode, as another program may leave it."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        process = start('sum', stdin=reading)
        os.close(reading)
        for part in (b'1 ', b'2', b'3 '):
            time.sleep(.1)
            os.write(writing, part)
        os.close(writing)
        self.assertEqual(finish(process), (0, b'24\n', b''))

    def test_named(self):
        path = os.path.join(self.directory, 'fifo')
        os.mkfifo(path)
        process = start('mean', path)
        with open(path, 'wb') as fifo:
            fifo.write(npy_array('f32', [1, 2, 6]))
        self.assertEqual(finish(process), (0, b'3\n', b''))

    def test_closed_standard_input(self):
        process = start('sum', stdin=None, preexec_fn=lambda: os.close(0))
        code, out, err = finish(process)
        self.assertEqual((code, out), (1, b''))
        self.assertIn(b'(standard input): Bad file descriptor', err)
        path = self.file('a.txt', '1 2')
        process = start('sum', path, stdin=None, preexec_fn=lambda: os.close(0))
        self.assertEqual(finish(process), (0, b'3\n', b''))

    def test_no_file_passes_for_a_closed_stream(self):
        """A file that is opened gets the lowest number that is free: those of standard streams must not be."""
        path = self.file('a.txt', '1 2')
        raw = self.file('a.bin', pack('f64', [1, 2]))
        for arguments in (('sum', path, '-'), ('sum', path, path, '-'), ('dot', path, '-'), ('dot', '-', path),
                          ('sum', '--format', 'raw', '--type', 'f64', raw, '-'), ('sum', '/dev/null', '-')):
            for closed in ((0,), (0, 2), (0, 1, 2)):
                streams = {'stdin': None, **({'stdout': None} if 1 in closed else {}),
                           **({'stderr': None} if 2 in closed else {})}
                process = start(*arguments, preexec_fn=lambda: [os.close(i) for i in closed], **streams)
                code, out, err = finish(process)
                self.assertEqual((code, out or b''), (1, b''), (arguments, closed))
                if 2 not in closed:
                    self.assertIn(b'(standard input): Bad file descriptor', err)

    @needs_every_part
    def test_no_output_lands_in_a_file(self):
        """Neither the report nor a remark."""
        for closed in (1, 2):
            page = os.path.join(self.directory, 'page.html')
            process = start('ladder', '--device', 'cpu', '--n', '1000', '--rounds', '1', '--html', page,
                            **{'stdout' if closed == 1 else 'stderr': None}, preexec_fn=lambda: os.close(closed))
            code, _, err = finish(process)
            with open(page, 'rb') as file:
                self.assertTrue(file.read().rstrip().endswith(b'</html>'))
            self.assertEqual(code, 1 if closed == 1 else 0)
            if closed == 1:
                self.assertIn(b'reduct: standard output: ', err)

    def test_closed_standard_error(self):
        process = start('sum', 'nowhere', preexec_fn=lambda: os.close(2))
        self.assertEqual(finish(process)[:2], (1, b''))


class Large(CommandTest):
    def peak(self, process):
        """Waits for the process; its output and its greatest memory, in MiB (0 where sanitizers have their share)."""
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        process.stderr.close()
        process.stdin.close()
        self.assertEqual(process.returncode, 0)
        return out, 0 if SANITIZED else usage.ru_maxrss / 1024

    def sparse(self, name, size, *values):
        """A file of zeros that takes no room, but for a few bytes."""
        path = os.path.join(self.directory, name)
        with open(path, 'wb') as file:
            file.truncate(size)
            for at, value in values:
                file.seek(at)
                file.write(value)
        return path

    def test_file_in_windows(self):
        """Of a large file a window at a time is in memory."""
        size = 768 << 20
        values = [(at, struct.pack('<d', value)) for at, value in ((0, 1.0), (size // 2 - 8, 2.5), (size - 8, 4.0))]
        path = self.sparse('large', size, *values)
        out, peak = self.peak(start('sum', '--format', 'raw', '--type', 'f64', path))
        self.assertEqual(out, b'7.5\n')
        self.assertLess(peak, 500)

    def test_beyond_4_gib(self):
        """Far into a file, and after more than 2^32 elements of others."""
        path = self.sparse('far', (5 << 30) + 1001, ((5 << 30) + 1000, b'\7'))
        self.good('1000', 'argmax', '--type', 'u8', '--offset', '5Gi', path)
        self.good('7', 'sum', '--type', 'u8', '--offset', str((5 << 30) + 997), path)
        if not SANITIZED:
            zeros = self.sparse('zeros', 1 << 28)
            self.good(str((17 << 28) + 1000), 'argmax', '--type', 'u8', '--offset', '0', *[zeros] * 17,
                      self.sparse('last', 1001, (1000, b'\7')))

    def test_stream(self):
        out, peak = self.peak(start('sum', '--count', '50Mi', *ZEROS))
        self.assertEqual(out, b'0\n')
        self.assertLess(peak, 200)

    def test_text_in_bounded_memory(self):
        process = start('sum', '--threads', '2')
        block = b'1.5 ' * (1 << 16)
        for _ in range(128):
            process.stdin.write(block)
        process.stdin.close()
        out, peak = self.peak(process)
        self.assertEqual(out, text_of(1.5 * 128 * (1 << 16)).encode() + b'\n')
        self.assertLess(peak, 200)


class Interrupted(CommandTest):
    def interrupt(self, *arguments):
        process = start(*arguments)
        wait_until_caught(process, signal.SIGINT)
        time.sleep(.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(finish(process), (130, b'', b''))

    def test_at_work(self):
        self.interrupt('sum', *ZEROS)

    def test_waiting(self):
        self.interrupt('sum')
        self.interrupt('sum', '--format', 'raw', '--type', 'u8')

    def test_opening(self):
        path = os.path.join(self.directory, 'fifo')
        os.mkfifo(path)
        self.interrupt('sum', path)

    def test_ignored_if_it_was(self):
        process = start('sum', preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(.2)
        process.send_signal(signal.SIGINT)
        process.stdin.write(b'1 2')
        self.assertEqual(finish(process), (0, b'3\n', b''))


class Terminal(CommandTest):
    def terminal(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('4H', 24, 80, 0, 0))
        self.addCleanup(os.close, master)
        return master, slave

    def read_all(self, master):
        """What has been written to the terminal up to now."""
        os.set_blocking(master, False)
        text = b''
        try:
            while part := os.read(master, 4096):
                text += part
        except OSError:
            pass
        return text.decode()

    def test_progress(self):
        """Shown after a second, erased at the end; not with --quiet, nor for short work."""
        runs = []
        for arguments in (ZEROS, ('--quiet', *ZEROS)):
            master, slave = self.terminal()
            runs.append((start('sum', *arguments, stderr=slave), master))
            os.close(slave)
        shown = ''

        def has_begun():
            nonlocal shown
            shown += self.read_all(runs[0][1])
            return '/s' in shown
        wait_until(has_begun)
        for process, _ in runs:
            process.send_signal(signal.SIGINT)
            self.assertEqual(finish(process)[:2], (130, b''))
        shown += self.read_all(runs[0][1])
        self.assertRegex(shown, r'\r[\d.]+ [MG]B  [\d.]+ [kMG]?B/s')
        self.assertTrue(shown.endswith('\r' + ' ' * 70 + '\r'), shown[-100:])
        self.assertEqual(self.read_all(runs[1][1]), '')

    def test_percent(self):
        """Where the sizes are known."""
        path = self.file('a.txt', b'1.5 ' * (3 << 20))
        master, slave = self.terminal()
        process = start('sum', '-j1', *[path] * 10, stderr=slave)
        os.close(slave)
        wait_until_open(process, path)
        process.send_signal(signal.SIGSTOP)  # so that it takes long enough
        time.sleep(1.2)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(finish(process)[:2], (0, text_of(1.5 * 30 * (1 << 20)).encode() + b'\n'))
        shown = self.read_all(master)
        self.assertRegex(shown, r'\r *\d+ %  [\d.]+ [MG]B of 126 MB  [\d.]+ [kMG]?B/s  \d+ s left')
        self.assertTrue(shown.endswith('\r' + ' ' * 70 + '\r'), shown[-100:])

    def test_typing(self):
        """Who gave no file is told what it waits for, before anything else."""
        for options in ((), ('--quiet',)):
            master, slave = self.terminal()
            process = start('sum', *options, stdin=slave)
            os.close(slave)
            if not options:
                self.assertIn(b'reading numbers from the terminal', process.stderr.readline())
            os.write(master, b'1 2\n3\n')
            time.sleep(.1)
            os.write(master, b'\x04')
            self.assertEqual(finish(process), (0, b'6\n', b''))

    def test_typing_a_mistake(self):
        master, slave = self.terminal()
        process = start('sum', '--type', 'u8', stdin=slave)
        os.close(slave)
        os.write(master, b'1 2\n3 four\n')
        self.assertEqual(process.wait(timeout=30), 1)
        self.assertIn(b"2:3: 'four'", process.communicate()[1])


if __name__ == '__main__':
    main()
