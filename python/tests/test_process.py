"""The interpreter's lock, and Ctrl-C."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import pyreduct


def test_other_threads_run_meanwhile():
    x = np.ones((1 << 22, 2))[:, 0]
    turns, done = 0, threading.Event()

    def work():
        for _ in range(10):
            pyreduct.sum(x)
        done.set()

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread that keeps the lock has it for all of its work
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            turns += 1
            time.sleep(0)
        thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert turns > 10


def test_many_threads_at_once():
    x = np.random.default_rng(1).standard_normal((64, 1000))
    expected = pyreduct.sum(x, axis=1)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(pyreduct.sum(x, axis=1), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_control_c():
    """The call that runs ends, and then the interrupt is raised."""
    program = (
        "import numpy, pyreduct, sys\n"
        "x = numpy.ones(1 << 20)\n"
        "pyreduct.sum(x)\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    while True: pyreduct.sum(x)\n"
        "except KeyboardInterrupt:\n"
        "    assert pyreduct.sum(x) == 1 << 20\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n" and process.returncode == 0
