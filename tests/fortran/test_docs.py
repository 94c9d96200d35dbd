"""The programs of docs/fortran.md: each is compiled and run, and prints what the page says below it.

    test_docs.py WORK COMPILER BUILD [LIBRARY WRAPPER LAUNCHER...]    an MPI library, its compiler, and what starts its programs,
                                                                     where there is one with modules for this compiler
"""
import os
import re
import subprocess
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK, COMPILER, BUILD = sys.argv[1:4]
LIBRARY, WRAPPER, *LAUNCHER = sys.argv[4:] or [None, None]


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode:
        raise AssertionError(f'{command} ended with {result.returncode}:\n{result.stdout}')
    return result.stdout


class Docs(unittest.TestCase):
    def check(self, name, program, expected):
        source, target = os.path.join(WORK, f'{name}.f90'), os.path.join(WORK, name)
        with open(source, 'w', encoding='utf-8') as file:
            file.write(program)
        link = [f'-L{BUILD}', '-lreduct_fortran', '-lreduct', f'-Wl,-rpath,{BUILD}']
        launch = []
        if 'mpi_f08' in program:
            if not LIBRARY:
                self.skipTest('no MPI library has modules for this compiler')
            includes = [f'-I{BUILD}/fortran/modules-{LIBRARY}']
            command, launch = WRAPPER, [*LAUNCHER, '-n', '3']
            link = [f'-lreduct_fortran_{LIBRARY}', f'-lreduct_mpi_{LIBRARY}', *link]
        else:
            includes, command = [], COMPILER
        run(command, '-std=f2018', source, '-o', target, f'-I{BUILD}/fortran/modules', *includes, f'-L{BUILD}', *link)
        self.assertEqual(run(*launch, target), expected)


def add_tests():
    with open(os.path.join(SOURCE, 'docs', 'fortran.md'), encoding='utf-8') as file:
        text = file.read()
    for program, name, expected in re.findall(r'```fortran\n(program (\w+)\n.*?)```\n\n```text\n(.*?)```', text, re.S):
        setattr(Docs, f'test_{name}',
                lambda self, name=name, program=program, expected=expected: self.check(name, program, expected))
    assert text.count('```fortran') == len([name for name in dir(Docs) if name.startswith('test_')])


add_tests()
if __name__ == '__main__':
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
