"""The command under Slurm: srun with each of its interfaces, and batch jobs, on a Slurm of one node that is started for this.

  test_slurm.py COMMAND [LIBRARY...]

COMMAND prints once what one process prints, or says why it does not and ends with status 1. LIBRARY: the MPI libraries that it has beside it,
openmpi and mpich. It takes root and slurmctld, slurmd and srun; no other Slurm of the machine is touched.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

COMMAND, LIBRARIES = os.path.abspath(sys.argv[1]), sys.argv[2:]
SKIPPED = 77  # as the test is registered
RANKS = 3
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(('OMPI_', 'PMI', 'SLURM_', 'SBATCH_', 'REDUCT_RANKS'))}

# No users are told apart and no resources kept apart. As many processors as the test has ranks, whatever the machine has.
CONFIGURATION = '''
ClusterName=reduct
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
NodeName={host} NodeAddr=127.0.0.1 CPUs={ranks}
SlurmdParameters=config_overrides
PartitionName=all Nodes=ALL Default=YES
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
'''


def skip(why):
    print('the command under Slurm is not tested: ' + why)
    sys.exit(SKIPPED)


def find(program):
    return shutil.which(program, path=os.environ.get('PATH', os.defpath) + ':/usr/sbin:/sbin')


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """The controller and the node, for as long as the block that has it."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        configuration = os.path.join(folder, 'slurm.conf')
        for name in ('state', 'spool'):
            os.mkdir(os.path.join(folder, name))
        with open(configuration, 'w', encoding='ascii') as file:
            file.write(CONFIGURATION.format(host=socket.gethostname().split('.')[0], ports=free_ports(2), ranks=RANKS, folder=folder))
        self.environment = {**ENVIRONMENT, 'SLURM_CONF': configuration}

    def __enter__(self):
        for daemon in ('slurmctld', 'slurmd'):
            with open(os.path.join(self.folder, daemon + '.log'), 'wb') as log:
                self.daemons.append(subprocess.Popen([find(daemon), '-D'], env=self.environment, stdin=subprocess.DEVNULL,
                                                     stdout=log, stderr=log))
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def run(self, *words, **more):
        return subprocess.run(words, env={**self.environment, **more}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)

    def log(self, daemon):
        with open(os.path.join(self.folder, daemon + '.log'), encoding='utf-8', errors='replace') as file:
            return ''.join(line for line in file if 'error' in line or 'fatal' in line)

    def is_ready(self):
        for _ in range(100):
            if any(daemon.poll() is not None for daemon in self.daemons):
                return False
            if 'idle' in self.run('sinfo', '--noheader', '--format=%T').stdout:
                return True
            time.sleep(0.2)
        return False


def own(said):
    """What the command itself said on standard error."""
    return [line for line in said.splitlines() if line.startswith('reduct')]


def same(slurm, words, command):
    """Under srun as alone."""
    alone = slurm.run(COMMAND, *words)
    done = slurm.run(*command, *words)
    expected = (alone.stdout, own(alone.stderr), alone.returncode)
    assert (done.stdout, own(done.stderr), done.returncode) == expected, (command, words, done, expected)


def refused(slurm, words, command, why, status=1, **more):
    """Said once, by the first rank; nothing printed."""
    done = slurm.run(*command, *words, **more)
    assert (done.stdout, len(own(done.stderr)), done.returncode) == ('', 1, status) and why in done.stderr, (command, done)


def check(slurm, folder):
    random.seed(5)
    numbers, wrong = os.path.join(folder, 'numbers'), os.path.join(folder, 'wrong')
    with open(numbers, 'w', encoding='ascii') as file:
        file.write('\n'.join(repr(random.uniform(-1, 1) * 10.0 ** random.randint(-200, 200)) for _ in range(5003)))
    with open(wrong, 'w', encoding='ascii') as file:
        file.write('1 2 three ' * 1000)
    words = ['sum,std,argmin', numbers]
    bare = os.path.join(folder, 'reduct')  # which has no library beside it
    shutil.copy(COMMAND, bare)
    offered = slurm.run('srun', '--mpi=list').stderr + slurm.run('srun', '--mpi=list').stdout
    tested = []
    ended = 128 + 9  # as srun has it from the ranks that the first one's failure ended
    refused(slurm, words, ['srun', f'--ntasks={RANKS}', '--mpi=pmi2', bare], 'libreduct_mpi_mpich', ended, LD_LIBRARY_PATH='')
    for interface, library in (('pmix', 'openmpi'), ('pmi2', 'mpich')):
        srun = ['srun', f'--ntasks={RANKS}', '--mpi=' + interface]
        if interface not in offered:
            print(f'--mpi={interface} is not tested: this Slurm lacks it')
            continue
        if library not in LIBRARIES:
            refused(slurm, words, [*srun, COMMAND], 'libreduct_mpi_' + library, ended if library == 'mpich' else 1)
            continue
        same(slurm, words, [*srun, COMMAND])
        same(slurm, ['sum', wrong], [*srun, COMMAND])
        tested.append(f'{library} by {interface}')
    srun = ['srun', f'--ntasks={RANKS}', '--mpi=none']
    refused(slurm, words, [*srun, COMMAND], '--mpi=pmix')
    same(slurm, words, ['srun', '--ntasks=1', '--mpi=none', COMMAND])
    alone = slurm.run(COMMAND, *words).stdout
    done = slurm.run(*srun, COMMAND, *words, REDUCT_RANKS='alone')
    assert (done.stdout, done.returncode) == (RANKS * alone, 0), done
    batch(slurm, folder, words, alone)
    print(f'Slurm: {", ".join(tested)}, and without either: as it should be')


def batch(slurm, folder, words, alone):
    """A job of several tasks whose script starts one process, and then some by launchers."""
    script, output = os.path.join(folder, 'job'), os.path.join(folder, 'job.out')
    launchers = [shutil.which('mpirun.' + library) for library in LIBRARIES]
    starts = ['', *(f'{launcher} -n {RANKS}' for launcher in launchers if launcher)]
    with open(script, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nexport OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n')
        file.writelines(f'{start} "{COMMAND}" {words[0]} "{words[1]}" 2>&1\n' for start in starts)
    done = slurm.run('sbatch', f'--ntasks={RANKS}', '--output=' + output, script)
    assert done.returncode == 0, done
    for _ in range(200):
        if not slurm.run('squeue', '--noheader').stdout:
            break
        time.sleep(0.2)
    with open(output, encoding='utf-8') as file:
        said = file.read()
    assert said == len(starts) * alone, (starts, said)


def main():
    if os.geteuid() != 0:
        skip('it takes root')
    for program in ('slurmctld', 'slurmd', 'srun', 'sinfo', 'sbatch', 'squeue'):
        if not find(program):
            skip(f'it takes {program}, of the packages slurmctld, slurmd and slurm-client')
    with tempfile.TemporaryDirectory(prefix='reduct-test-') as folder, Slurm(folder) as slurm:
        if not slurm.is_ready():
            skip('it does not start here: ' + (slurm.log('slurmctld') + slurm.log('slurmd'))[-2000:])
        check(slurm, folder)


if __name__ == '__main__':
    main()
