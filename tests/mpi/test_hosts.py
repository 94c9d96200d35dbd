"""Two hosts: ranks in two network namespaces of this machine, which see each other through one cable and nothing else.

  test_hosts.py COMMAND TEST LIBRARY LAUNCHER [OPTION...]

TEST, a program of test_mpi.c, and the command must give on them the bits that one process gives. It takes root and ip, of iproute2.
"""
import os
import random
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

COMMAND, TEST, LIBRARY, LAUNCHER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4:]
SKIPPED = 77  # as the test is registered
ADDRESSES = ('10.77.0.1', '10.77.0.2')  # which nobody else sees
HOSTS = [f'reduct-{os.getpid()}-{name}' for name in 'ab']  # namespaces have one list for the machine
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(('OMPI_', 'PMI', 'SLURM_', 'REDUCT_RANKS'))}

# What launchers call in the place of ssh: options, the host, words of a command line.
AGENT = '''#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case "$1" in
%s
*) echo "no such host: $1" >&2; exit 1 ;;
esac
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0" && eval "$1"' "$host" "$*"
'''

# How each library is told of the agent, of the hosts, and to use the cable.
OPTIONS = {
    'openmpi': ['--mca', 'plm', 'rsh', '--mca', 'plm_rsh_agent', 'AGENT', '--host', ','.join(f'{a}:2' for a in ADDRESSES),
                '--mca', 'oob_tcp_if_include', ADDRESSES[0] + '/24', '--mca', 'btl_tcp_if_include', ADDRESSES[0] + '/24',
                '--mca', 'pml', 'ob1', '--mca', 'btl', 'self,vader,tcp', '--map-by', 'node'],
    'mpich': ['-launcher', 'ssh', '-launcher-exec', 'AGENT', '-hosts', ','.join(ADDRESSES), '-localhost', ADDRESSES[0],
              '-iface', 'cable'],
}


def skip(why):
    print('two hosts are not tested: ' + why)
    sys.exit(SKIPPED)


def ip(*words):
    subprocess.run(['ip', *words], check=True, capture_output=True, text=True)


def make_hosts():
    for host in HOSTS:
        ip('netns', 'add', host)
    ip('-n', HOSTS[0], 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', HOSTS[1])
    for host, address in zip(HOSTS, ADDRESSES):
        ip('-n', host, 'address', 'add', address + '/24', 'dev', 'cable')
        for device in ('lo', 'cable'):
            ip('-n', host, 'link', 'set', device, 'up')
    ip('netns', 'exec', HOSTS[0], 'unshare', '--uts', 'true')


def received(host):
    """Bytes that came in through its cable."""
    said = subprocess.run(['ip', 'netns', 'exec', host, 'cat', '/sys/class/net/cable/statistics/rx_bytes'], check=True,
                          capture_output=True, text=True)
    return int(said.stdout)


def launch(agent, *words):
    """Runs a program on four ranks, by turns here and there, from the first host."""
    options = [agent if option == 'AGENT' else option for option in OPTIONS[LIBRARY]]
    line = [*LAUNCHER, *options, '-n', '4', *words]
    inside = ['ip', 'netns', 'exec', HOSTS[0], 'unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec ' + shlex.join(line), HOSTS[0]]
    return subprocess.run(inside, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)


def check(folder):
    agent = os.path.join(folder, 'agent')
    with open(agent, 'w', encoding='ascii') as file:
        file.write(AGENT % '\n'.join(f'{address}) host={host} ;;' for host, address in zip(HOSTS, ADDRESSES)))
    os.chmod(agent, 0o755)
    random.seed(3)
    values = [random.uniform(-1, 1) * 10.0 ** random.randint(-200, 200) for _ in range(5003)]
    numbers = os.path.join(folder, 'numbers')
    with open(numbers, 'wb') as file:
        file.write(struct.pack('<5003d', *values))
    words = ['sum,std,argmin,minmax', '--format', 'raw', '--type', 'f64', numbers]
    alone = subprocess.run([COMMAND, *words], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    where = launch(agent, 'uname', '-n')
    assert sorted(where.stdout.split()) == sorted(2 * HOSTS), where
    for program, expected in (([TEST, 'splits'], '4 ranks: done\n'), ([TEST, 'each'], '4 ranks: done\n'), ([COMMAND, *words], alone)):
        before = [received(host) for host in HOSTS]
        done = launch(agent, *program)
        assert (done.stdout, done.returncode) == (expected, 0), (program, done)
        for host, bytes_before in zip(HOSTS, before):
            came = received(host) - bytes_before
            assert came > 1000, f'{program}: only {came} bytes came to {host}: no ranks there'


def main():
    if os.geteuid() != 0:
        skip('it takes root')
    if not shutil.which('ip'):
        skip('it takes ip, of the package iproute2')
    try:
        try:
            make_hosts()
        except subprocess.CalledProcessError as error:
            skip(f'{error} {error.stderr}')
        with tempfile.TemporaryDirectory(prefix='reduct-test-') as folder:
            check(folder)
    finally:
        for host in HOSTS:
            subprocess.run(['ip', 'netns', 'delete', host], capture_output=True, check=False)
    print(f'two hosts, {LIBRARY}: as one process')


if __name__ == '__main__':
    main()
