# SPDX-License-Identifier: MIT
"""Every call that would change something gives EROFS: from the kernel, whose mount is read-only,
and, if an administrator has remounted it for writing, from the program."""
import ctypes
import errno
import fcntl
import os
import socket

from harness import Skip, case, data, fails, mounted, run, same

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_REMOVEDIR = -100, 0x200
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
MS_REMOUNT = 32
FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR = 0x40086602, 0x401C5820


def call(name, *arguments):
    if getattr(libc, name)(*[a.encode() if isinstance(a, str) else a for a in arguments]) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f'{name}: {os.strerror(number)}')


def opening(path, flags):
    os.close(os.open(path, flags, 0o600))


def with_descriptor(path, function):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        function(descriptor)
    finally:
        os.close(descriptor)


def bind_socket(path):
    with socket.socket(socket.AF_UNIX) as unix:
        where = os.getcwd()
        os.chdir(os.path.dirname(path))  # the path of a socket has to be short
        try:
            unix.bind(os.path.basename(path))
        finally:
            os.chdir(where)


def changes(top):
    """(description, a call that would change something) for a file, a directory and a new name."""
    field = str(top / 'Events' / 'run')
    file, new, directory, other = f'{field}/data.bin', f'{field}/new', field, f'{field}/data.npy'
    at = AT_FDCWD
    return [
        ('open for writing', lambda: opening(file, os.O_WRONLY)),
        ('open for reading and writing', lambda: opening(file, os.O_RDWR)),
        ('open for appending', lambda: opening(file, os.O_WRONLY | os.O_APPEND)),
        ('open and truncate', lambda: opening(file, os.O_WRONLY | os.O_TRUNC)),
        ('open and create', lambda: opening(new, os.O_RDONLY | os.O_CREAT)),
        ('open and create for writing', lambda: opening(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)),
        ('open again through /proc', lambda: with_descriptor(file,
                                                             lambda d: opening(f'/proc/self/fd/{d}',
                                                                     os.O_RDWR))),
        ('creat', lambda: call('creat', new, 0o600)),
        ('truncate to nothing', lambda: os.truncate(file, 0)),
        ('truncate to more', lambda: os.truncate(file, 1 << 20)),
        ('mkdir', lambda: os.mkdir(new)),
        ('mkdirat', lambda: with_descriptor(directory, lambda d: os.mkdir('new', dir_fd=d))),
        ('rmdir', lambda: os.rmdir(f'{field}/column.0')),
        ('unlink', lambda: os.unlink(file)),
        ('unlinkat', lambda: with_descriptor(directory, lambda d: os.unlink('data.bin', dir_fd=d))),
        ('unlinkat of a directory', lambda: call('unlinkat', at, f'{field}/column.0', AT_REMOVEDIR)),
        ('mknod of a file', lambda: os.mknod(new, 0o100600)),
        ('mknod of a pipe', lambda: os.mkfifo(new)),
        ('bind of a socket', lambda: bind_socket(new)),
        ('symlink', lambda: os.symlink('data.bin', new)),
        ('symlinkat', lambda: with_descriptor(directory, lambda d: os.symlink('data.bin', 'new', dir_fd=d))),
        ('link', lambda: os.link(file, new)),
        ('rename', lambda: os.rename(file, new)),
        ('rename over another', lambda: os.rename(file, other)),
        ('rename of a directory', lambda: os.rename(directory, str(top / 'Events' / 'new'))),
        ('renameat2 without replacing', lambda: call('renameat2', at, file, at, new, RENAME_NOREPLACE)),
        ('renameat2 exchanging', lambda: call('renameat2', at, file, at, other, RENAME_EXCHANGE)),
        ('chmod', lambda: os.chmod(file, 0o644)),
        ('chmod of a directory', lambda: os.chmod(directory, 0o755)),
        ('fchmod', lambda: with_descriptor(file, lambda d: os.fchmod(d, 0o644))),
        ('chown', lambda: os.chown(file, 1, 1)),
        ('lchown', lambda: os.lchown(file, 1, 1)),
        ('fchown', lambda: with_descriptor(file, lambda d: os.fchown(d, 1, 1))),
        ('utimensat to now', lambda: os.utime(file)),
        ('utimensat to a time', lambda: os.utime(file, (1, 1))),
        ('utimensat of a directory', lambda: os.utime(directory, (1, 1))),
        ('futimens', lambda: with_descriptor(file, lambda d: os.utime(d, (1, 1)))),
        ('setxattr', lambda: os.setxattr(file, 'user.note', b'x')),
        ('setxattr of one of ours', lambda: os.setxattr(file, 'user.ntuplefs.name', b'x')),
        ('setxattr of a directory', lambda: os.setxattr(directory, 'user.note', b'x')),
        ('fsetxattr', lambda: with_descriptor(file, lambda d: os.setxattr(d, 'user.note', b'x'))),
        ('removexattr', lambda: os.removexattr(file, 'user.ntuplefs.name')),
        ('fremovexattr', lambda: with_descriptor(file, lambda d: os.removexattr(d, 'user.ntuplefs.name'))),
    ]


def kernel_only(top):
    """Calls that a file system without write access never sees."""
    file, directory = str(top / 'Events/run/data.bin'), str(top / 'Events/run')
    return [
        ('O_TMPFILE', lambda: opening(directory, os.O_WRONLY | os.O_TMPFILE)),
        ('ioctl FS_IOC_SETFLAGS', lambda: with_descriptor(file,
                                                          lambda d: fcntl.ioctl(d, FS_IOC_SETFLAGS,
                                                                  b'\0' * 8))),
        ('ioctl FS_IOC_FSSETXATTR',
         lambda: with_descriptor(file, lambda d: fcntl.ioctl(d, FS_IOC_FSSETXATTR, b'\0' * 28))),
    ]


def refused(table):
    for what, change in table:
        try:
            fails(errno.EROFS, change)
        except AssertionError as error:
            raise AssertionError(f'{what}: {error}') from None


@case
def every_change_gives_EROFS():
    with mounted(data('example.root')) as top:
        refused(changes(top) + kernel_only(top))


@case
def every_change_gives_EROFS_from_the_program_where_the_kernel_lets_it_through():
    if os.geteuid() != 0:
        raise Skip('only root may remount')
    with mounted(data('example.root')) as top:
        call('mount', None, str(top), None, MS_REMOUNT, None)
        assert not os.statvfs(top).f_flag & os.ST_RDONLY
        refused(changes(top))


@case
def a_file_that_is_open_for_reading_cannot_be_changed_through_its_descriptor():
    with mounted(data('example.root')) as top:
        path = top / 'Events/run/data.bin'
        with_descriptor(path, lambda d: fails(errno.EINVAL, os.ftruncate, d, 0))
        with_descriptor(path, lambda d: fails(errno.EBADF, os.write, d, b'x'))
        with_descriptor(path, lambda d: fails(errno.EBADF, os.posix_fallocate, d, 0, 1))


@case
def access_for_writing_is_denied_even_to_root():
    with mounted(data('example.root')) as top:
        same(os.access(top / 'Events/run/data.bin', os.W_OK), False)
        same(os.access(top / 'Events/run', os.W_OK), False)
        same(os.access(top / 'Events/run/data.bin', os.R_OK), True)


run()
