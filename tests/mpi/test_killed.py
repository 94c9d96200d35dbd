"""A rank that dies while the others wait for it: the launcher ends them and fails, in little time, and none of them goes on or stays behind.

usage: test_killed.py PROGRAM LAUNCHER...
"""
import os
import signal
import subprocess
import sys
import time

PROGRAM, *LAUNCHER = sys.argv[1:]
RANKS = 3
SECONDS = 30  # that the launcher may take


def is_alive(process):
    """Whether it runs; one that has ended, but that nobody has asked for its status, does not."""
    try:
        with open(f'/proc/{process}/stat', encoding='ascii', errors='replace') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def check(which):
    began = time.monotonic()
    line = [*LAUNCHER, '-n', str(RANKS), PROGRAM, which]
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          start_new_session=True) as launcher:
        try:
            said, _ = launcher.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(launcher.pid, signal.SIGKILL)
            raise AssertionError(f'{which}: after {SECONDS} seconds ranks still wait for the one that died') from None
    ranks = [int(line.split()[1]) for line in said.splitlines() if line.startswith('process ')]
    assert len(ranks) == RANKS, f'{which}: not all ranks began to wait:\n{said}'
    assert 'went on' not in said, f'{which}: a rank went on:\n{said}'
    assert launcher.returncode != 0, f'{which}: the launcher says that all is well:\n{said}'
    while any(map(is_alive, ranks)):
        assert time.monotonic() < began + SECONDS, f'{which}: the launcher has ended, and ranks have not:\n{said}'
        time.sleep(0.01)
    print(f'{which}: ended after {time.monotonic() - began:.1f} s with status {launcher.returncode}')


check('killed')
check('killed-first')
