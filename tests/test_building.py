"""What the build's own scripts say where something is missing or taken."""
import os
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.request

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def script(name):
    return os.path.join(SOURCE, 'scripts', name)


class InstallDeps(unittest.TestCase):
    """On a system that has nothing but the programs put there, none of which installs packages."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ('bash', 'cat', 'cut', 'env', 'head', 'sed', 'sort'):
            os.symlink(shutil.which(name), os.path.join(self.folder, name))

    def put(self, name, text=''):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'#!{shutil.which("bash")}\n{text}\n')
        os.chmod(path, 0o755)

    def put_web(self):
        os.makedirs(os.path.join(self.folder, 'lib', 'wasi'))
        self.put(os.path.join('lib', 'wasi', 'libclang_rt.builtins-wasm32.a'))
        self.put('clang', f'echo {self.folder}')
        for name in ('wasm-ld', 'python3'):
            self.put(name)

    def install(self, *arguments):
        return subprocess.run([script('install-deps'), *arguments], env={'PATH': self.folder}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_the_page_needs_no_cmake(self):
        self.put_web()
        result = self.install('web')
        self.assertEqual((result.returncode, result.stdout), (0, ''))

    def test_an_old_cmake_is_named(self):
        self.put_web()
        self.put('cmake', 'echo cmake version 3.24.9')
        result = self.install('web')
        self.assertEqual(result.returncode, 1)
        self.assertIn('cmake 3.24.9 is too old: 3.25 is needed', result.stdout)

    def test_every_failure_says_why(self):
        result = self.install('web')
        self.assertEqual(result.returncode, 1)
        self.assertIn('  lld ', result.stdout)
        self.assertIn('install-deps: ', result.stdout)
        result = self.install('wab')
        self.assertEqual((result.returncode, result.stdout),
                         (2, "install-deps: no set 'wab': build, web, test, fuzz or ci\n"))


class Serve(unittest.TestCase):
    def test_it_serves_a_folder(self):
        with subprocess.Popen([script('serve'), '0', SOURCE], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            self.addCleanup(server.kill)
            address = server.stdout.readline().split()[1].replace('localhost', '127.0.0.1')
            with urllib.request.urlopen(address) as page:
                self.assertIn(b'<title>', page.read())
            server.kill()

    def test_a_port_that_is_taken_is_one_sentence(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = subprocess.run([script('serve'), str(port), SOURCE], text=True, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (1, ''))
        self.assertEqual(result.stderr, f'serve: port {port} cannot be used (Address already in use): try another, '
                                        'make web PORT=8080\n')

    def test_what_is_no_port(self):
        for text in ('x', '-1', '65536', '80 81', ''):
            result = subprocess.run([script('serve'), text], text=True, capture_output=True, check=False)
            self.assertEqual((result.returncode, result.stdout, result.stderr),
                             (2, '', f"serve: '{text}' is not a port: expected a number from 0 to 65535\n"))

    def test_what_is_no_folder(self):
        result = subprocess.run([script('serve'), '0', '/nowhere'], text=True, capture_output=True, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, '', 'serve: /nowhere is no folder that is there; make site makes build/site\n'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
