"""The library as strangers use it: installed here, there and moved, as a part of their own build, and as the README says.

    test_package.py BUILD COMPILER FORTRAN [CACHE_ENTRY...]     the entries are for every project that is configured here

FORTRAN is the compiler of the Fortran module, or empty where the build has none.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD, COMPILER, FORTRAN = sys.argv[1:4]
ENTRIES = [f'-DCMAKE_C_COMPILER={COMPILER}', '-DREDUCT_CUDA=OFF', '-DREDUCT_VULKAN=OFF', '-DREDUCT_FORTRAN=OFF',
           *(f'-D{entry}' for entry in sys.argv[4:] if not entry.endswith('='))]
LIBRARY_ONLY = ['-DREDUCT_BUILD_CLI=OFF', '-DREDUCT_BUILD_EXAMPLES=OFF']


def run(*command, good=True, **environment):
    """The output of a command, which is to succeed, or to fail."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=WORK,
                            env={**os.environ, **environment})
    if (result.returncode == 0) != good:
        raise AssertionError(f'{command} ended with {result.returncode}:\n{result.stdout}')
    return result.stdout


def path(*names):
    return os.path.join(WORK, *names)


def configure(source, build, *options, good=True, **environment):
    return run('cmake', '-S', source, '-B', path(build), '-DCMAKE_BUILD_TYPE=Debug', *ENTRIES, *options, good=good,
               **environment)


def build(folder):
    run('cmake', '--build', path(folder), '--parallel', '2')


def install(folder, prefix):
    return run('cmake', '--install', folder, '--prefix', path(prefix))


def pc_folder(*names):
    """Where reduct.pc lies below a folder: lib/pkgconfig, or what the system has in place of lib."""
    [found] = glob.glob(path(*names, '**', 'reduct.pc'), recursive=True)
    return os.path.dirname(found)


def compile_with_pkg_config(program, folder, *more, static=False):
    """Compiles the stranger's program with what pkg-config says, and nothing else told about where the library is."""
    flags = run('pkg-config', '--cflags', '--libs', *(['--static'] if static else []), 'reduct', PKG_CONFIG_PATH=folder)
    run(COMPILER, os.path.join(HERE, 'main.c'), '-o', path(program), *flags.split(), *more)


class Package(unittest.TestCase):
    def setUp(self):
        global WORK
        WORK = tempfile.mkdtemp(prefix='reduct-package-')
        self.addCleanup(shutil.rmtree, WORK)

    def check_programs(self, folder):
        for name in ('shared', 'static'):
            self.assertIn('reduct 0.', run(path(folder, name)))


class Installed(Package):
    def setUp(self):
        super().setUp()
        install(BUILD, 'prefix')

    def test_find_package_asks_for_a_version(self):
        for wanted in ('', '0.1', '0.1.0'):
            configure(os.path.join(HERE, 'installed'), 'build', f'-DWANTED={wanted}', f'-DCMAKE_PREFIX_PATH={path("prefix")}')
        build('build')
        self.check_programs('build')

    def test_find_package_refuses_versions_that_it_is_not(self):
        for wanted in ('0.0', '0.2', '1.0'):
            said = configure(os.path.join(HERE, 'installed'), 'refused', f'-DWANTED={wanted}',
                             f'-DCMAKE_PREFIX_PATH={path("prefix")}', good=False)
            self.assertIn('version: 0.1.0', said)

    def test_pkg_config_finds_what_was_moved(self):
        os.rename(path('prefix'), path('elsewhere'))
        compile_with_pkg_config('shared', pc_folder('elsewhere'))
        self.assertIn('reduct 0.', run(path('shared'), LD_LIBRARY_PATH=os.path.dirname(pc_folder('elsewhere'))))

    def test_pkg_config_names_what_the_static_library_needs(self):
        for name in glob.glob(path('prefix', '**', 'libreduct.so*'), recursive=True):
            os.remove(name)
        compile_with_pkg_config('static', pc_folder('prefix'), '-DREDUCT_STATIC', static=True)
        self.assertIn('reduct 0.', run(path('static')))

    @unittest.skipUnless(FORTRAN, 'this build has no Fortran module')
    def test_fortran_finds_the_module(self):
        configure(os.path.join(HERE, 'fortran'), 'build', f'-DCMAKE_PREFIX_PATH={path("prefix")}',
                  f'-DCMAKE_Fortran_COMPILER={FORTRAN}')
        build('build')
        self.assertEqual(run(path('build', 'program')), 'reduct 0.1.0 1.3\n')

    @unittest.skipUnless(FORTRAN, 'this build has no Fortran module')
    def test_fortran_with_pkg_config(self):
        os.rename(path('prefix'), path('elsewhere'))
        folder = pc_folder('elsewhere')
        flags = run('pkg-config', '--cflags', '--libs', 'reduct_fortran', PKG_CONFIG_PATH=folder)
        run(FORTRAN, os.path.join(HERE, 'fortran', 'main.f90'), '-o', path('program'), *flags.split())
        self.assertEqual(run(path('program'), LD_LIBRARY_PATH=os.path.dirname(folder)), 'reduct 0.1.0 1.3\n')

    @unittest.skipUnless(FORTRAN, 'this build has no Fortran module')
    def test_fortran_from_the_installed_sources(self):
        sources = path('prefix', 'share', 'reduct', 'fortran')
        flags = run('pkg-config', '--cflags', '--libs', 'reduct', PKG_CONFIG_PATH=pc_folder('prefix')).split()
        run(FORTRAN, '-c', os.path.join(sources, 'reduct_fortran.c'), '-o', path('fortran.o'), *flags)
        run(FORTRAN, '-O0', '-I', sources, *(os.path.join(sources, f'{name}.f90') for name in (
            'reduct_constants', 'reduct_engine', 'reduct')), os.path.join(HERE, 'fortran', 'main.f90'), path('fortran.o'),
            '-o', path('program'), *flags)
        self.assertEqual(run(path('program'), LD_LIBRARY_PATH=os.path.dirname(pc_folder('prefix'))), 'reduct 0.1.0 1.3\n')

    @unittest.skipUnless(FORTRAN, 'this build has no Fortran module')
    def test_fortran_over_ranks(self):
        """One rank, which needs no launcher."""
        folder = pc_folder('prefix')
        for name in ('openmpi', 'mpich'):
            wrapper = shutil.which(f'mpif90.{name}')
            if not wrapper or not os.path.exists(os.path.join(folder, f'reduct_fortran_{name}.pc')):
                print(f'not with {name}, which this build has not, or has under another name')
                continue
            flags = run('pkg-config', '--cflags', '--libs', f'reduct_fortran_{name}', PKG_CONFIG_PATH=folder)
            run(wrapper, os.path.join(HERE, 'fortran', 'ranks.f90'), '-o', path(name), *flags.split())
            self.assertEqual(run(path(name), LD_LIBRARY_PATH=os.path.dirname(folder)), ' 1.0 1.0\n')

    def test_the_licence_is_there(self):
        with open(path('prefix', 'share', 'doc', 'reduct', 'LICENSE'), encoding='utf-8') as file, \
                open(os.path.join(SOURCE, 'LICENSE'), encoding='utf-8') as own:
            self.assertEqual(file.read(), own.read())


class Alone(Package):
    """A build that leaves out all that can be left out but the command, where no pkg-config finds jansson."""

    def test_without_jansson_in_absolute_folders(self):
        libraries, headers = path('there', 'libraries'), path('over', 'headers')
        configure(SOURCE, 'build', '-DREDUCT_BUILD_BENCH=OFF', '-DREDUCT_BUILD_LADDER=OFF', '-DREDUCT_BUILD_TESTS=OFF',
                  '-DREDUCT_BUILD_EXAMPLES=OFF', f'-DCMAKE_INSTALL_LIBDIR={libraries}', f'-DCMAKE_INSTALL_INCLUDEDIR={headers}',
                  f'-DCMAKE_INSTALL_PREFIX={path("prefix")}', PKG_CONFIG_LIBDIR=WORK)
        build('build')
        run('cmake', '--install', path('build'))
        self.assertEqual(sorted(os.listdir(path('prefix'))), ['bin', 'share'])
        self.assertEqual(run('sh', '-c', 'echo 1e100 1 -1e100 | prefix/bin/reduct sum'), '1\n')
        for name in ('ladder', 'bench'):
            self.assertIn(f'{name}: this build has none', run(path('prefix', 'bin', 'reduct'), name, good=False))
        compile_with_pkg_config('shared', os.path.join(libraries, 'pkgconfig'), f'-Wl,-rpath,{libraries}')
        self.assertIn('reduct 0.', run(path('shared')))

    def test_absolute_headers_beside_relative_libraries(self):
        headers = path('over', 'headers')
        configure(SOURCE, 'build', *LIBRARY_ONLY, '-DREDUCT_BUILD_TESTS=OFF', '-DCMAKE_INSTALL_LIBDIR=lib/a/b',
                  f'-DCMAKE_INSTALL_INCLUDEDIR={headers}')
        flags = run('pkg-config', '--cflags', '--libs', 'reduct', PKG_CONFIG_PATH=path('build', 'src'))
        self.assertIn(f'-I{headers}', flags)
        self.assertIn(f'-L{path("build", "src")}/../../../../lib/a/b', flags)


class Subproject(Package):
    def configure(self, *options):
        configure(os.path.join(HERE, 'subproject'), 'build', f'-DSOURCE={SOURCE}', *options)
        self.assertIn('Total Tests: 0', run('ctest', '--test-dir', path('build'), '-N'))
        targets = set(re.findall(r'\w+', run('cmake', '--build', path('build'), '--target', 'help')))
        self.assertFalse({'demo', 'reduct_command', 'reduct_ladder', 'peers', 'first'} & targets)
        self.assertLessEqual({'reduct', 'reduct_static', 'shared', 'static'}, targets)

    def test_add_subdirectory(self):
        self.configure()
        build('build')
        self.check_programs('build')
        install(path('build'), 'prefix')
        self.assertEqual(sorted(os.listdir(path('prefix'))), ['bin'])
        self.assertEqual(sorted(os.listdir(path('prefix', 'bin'))), ['shared', 'static'])

    def test_fetch_content(self):
        """Configured alone: what is built is what add_subdirectory builds."""
        self.configure('-DFETCH=ON')


class Readme(Package):
    """The first example in C, compiled and run as the lines below it say; `make install` is that of this build."""

    def test_the_example_runs(self):
        with open(os.path.join(SOURCE, 'README.md'), encoding='utf-8') as file:
            section = file.read().split('\n## From C\n')[1]
        program, console = re.search(r'```c\n(.*?)```.*?```console\n(.*?)```', section, re.S).groups()
        with open(path('first.c'), 'w', encoding='utf-8') as file:
            file.write(program)
        commands = [line[2:] for line in console.splitlines() if line.startswith('$ ')]
        expected = [line for line in console.splitlines() if not line.startswith('$ ')]
        self.assertEqual([command for command in commands if command.startswith('make ')],
                         ['make install PREFIX=$HOME/.local'])
        make = f'make() {{ cmake --install {BUILD} --prefix "${{2#PREFIX=}}" >install.log; }}'
        said = run('sh', '-ec', '\n'.join([make, *commands]), HOME=path('home'), PKG_CONFIG_PATH='', LD_LIBRARY_PATH='')
        self.assertEqual(said.splitlines(), expected)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
