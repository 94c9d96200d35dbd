"""Directories in the place of files."""
import os

from harness import CommandTest, main, npy_array, pack


class Directories(CommandTest):
    def shards(self, name='shards', **files):
        path = os.path.join(self.directory, name)
        os.mkdir(path)
        for file, content in files.items():
            self.file(f'{name}/{file}', content)
        return path

    def test_order_of_names(self):
        """By bytes: capital letters first, 10 before 9; whatever the order in which they were made."""
        path = self.shards(b='5 6', a10='3', a9='4', Z='1 2')
        self.good('21\n5', 'sum,argmax', path)
        self.good('5', 'argmax', path + '/')
        self.good('42\n1', 'sum,argmin', self.file('first', '21'), path, '--type', 'f64')

    def test_among_files(self):
        path = self.shards(a='1', b='2')
        other = self.shards('more', a=npy_array('f64', [4.0]), b=npy_array('f64', [8.0]))
        self.good('47', 'sum', path, other, self.file('c', '32'))
        self.good('6', 'sum', path, path)
        self.good('35', 'sum', path, '-', stdin='32')

    def test_hidden_files_are_left_out(self):
        path = self.shards(a='1')
        self.file('shards/.b', 'no number')
        os.mkdir(os.path.join(path, '.c'))
        self.good('1', 'sum', path)

    def test_raw(self):
        path = self.shards(a=pack('f32', [1, 2]), b=pack('f32', [4]))
        self.good('7', 'sum', '--format', 'raw', '--type', 'f32', path)
        self.bad(1, os.path.join(path, 'b'), 'sum', '--format', 'raw', '--type', 'f64', path)

    def test_links(self):
        path = self.shards(b='1')
        os.symlink(self.file('elsewhere', '2'), os.path.join(path, 'a'))
        os.symlink(path, os.path.join(self.directory, 'link'))
        self.good('3\n0', 'sum,argmax', os.path.join(self.directory, 'link'))

    def test_nothing_in_it(self):
        path = self.shards()
        self.bad(1, path + ': there are no files in this directory', 'sum', path)
        self.file('shards/.hidden', '1')
        self.bad(1, path + ': there are no files', 'sum', path)

    def test_formats(self):
        path = self.shards(a='1', b=npy_array('f64', [4.0]))
        self.bad(1, (path + '/b: this is a .npy file; expected text', path + '/a'), 'sum', path)
        path = self.shards('other', a=pack('f64', [1.5]), b='1')
        self.bad(1, (path + '/b: this is text; expected raw binary', '--format'), 'sum', '--type', 'f64', path)
        path = self.shards('types', a=npy_array('f64', [4.0]), b=npy_array('f32', [4.0]))
        self.bad(1, path + '/b: f32 elements; expected f64', 'sum', path)

    def test_what_is_no_file(self):
        path = self.shards(a='1')
        os.mkdir(os.path.join(path, 'b'))
        self.bad(1, path + '/b: this is a directory', 'sum', path)
        os.rmdir(os.path.join(path, 'b'))
        os.mkfifo(os.path.join(path, 'b'))
        self.bad(1, path + '/b: this is no file', 'sum', path)
        os.remove(os.path.join(path, 'b'))
        os.symlink('nowhere', os.path.join(path, 'b'))
        self.bad(1, path + '/b: No such file', 'sum', path)

    def test_not_readable(self):
        if os.getuid() == 0:
            self.skipTest('root may read everything')
        path = self.shards(a='1', b='2')
        os.chmod(os.path.join(path, 'b'), 0)
        self.bad(1, path + '/b: Permission denied', 'sum', path)
        os.chmod(path, 0)
        self.bad(1, path + ': Permission denied', 'sum', path)
        os.chmod(path, 0o755)

    def test_where_one_file_is_meant(self):
        path = self.shards(a='1')
        for words in (['dot', path, path], ['sum', '--rows', path], ['sum', '--mask', path, path]):
            self.bad(1, path + ': this is a directory; expected a file', *words)


if __name__ == '__main__':
    main()
