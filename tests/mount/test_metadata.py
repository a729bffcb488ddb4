# SPDX-License-Identifier: MIT
"""Inodes, names, listings, extended attributes and the figures of the file system."""
import ctypes
import errno
import os
import stat

from harness import case, data, fails, mounted, output, run, same

libc = ctypes.CDLL(None, use_errno=True)


def walk(top):
    """(path, result of lstat) for everything."""
    for root, directories, names in os.walk(top):
        for name in directories + names:
            path = os.path.join(root, name)
            yield path, os.lstat(path)


@case
def inode_numbers_are_unique_and_agree_with_the_listing():
    with mounted(data('example.root')) as top:
        seen = {}
        for path, found in walk(top):
            same(seen.setdefault(found.st_ino, path), path, 'inode')
        for root, _, _ in os.walk(top):
            for entry in os.scandir(root):
                same(entry.inode(), entry.stat(follow_symlinks=False).st_ino, entry.path)
                same(entry.is_dir(), stat.S_ISDIR(entry.stat().st_mode), entry.path)


@case
def inode_numbers_are_the_same_in_every_mount():
    def numbers():
        with mounted(data('example.root')) as top:
            return {os.path.relpath(path, top): found.st_ino for path, found in walk(top)}
    same(numbers(), numbers())


@case
def everything_is_a_file_or_directory_without_write_permission():
    with mounted(data('example.root')) as top:
        for path, found in walk(top):
            assert stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode), path
            same(found.st_mode & 0o222, 0, path)
            same(found.st_blocks, (found.st_size + 511) // 512, path)


@case
def listings_have_dot_and_dot_dot_and_can_be_read_again():
    libc.opendir.restype = ctypes.c_void_p
    libc.readdir.restype = ctypes.c_void_p
    libc.telldir.restype = ctypes.c_long

    def name_of(entry):
        return ctypes.string_at(entry + 19)  # struct dirent: d_name follows ino, off, reclen, type

    with mounted(data('example.root')) as top:
        directory = ctypes.c_void_p(libc.opendir(os.fsencode(top / 'Events')))
        places, names = [], []
        while True:
            places.append(libc.telldir(directory))
            entry = libc.readdir(directory)
            if not entry:
                break
            names.append(name_of(entry))
        same(names[:2], [b'.', b'..'])
        same(sorted(names[2:]), sorted(os.fsencode(name) for name in os.listdir(top / 'Events')))
        for place, name in reversed(list(zip(places, names))):
            libc.seekdir(directory, ctypes.c_long(place))
            same(name_of(libc.readdir(directory)), name)
        libc.closedir(directory)


@case
def missing_names_are_missing():
    with mounted(data('example.root')) as top:
        for path in 'nothing', 'Events/nothing', 'Events/run/data', 'Events/run/data.bin2', \
                'Events/run/pages', \
                'Events/run/column.1', 'Events/run/column.00', 'Events/run/column.-1':
            fails(errno.ENOENT, os.stat, top / path)
        fails(errno.ENOTDIR, os.stat, top / 'Events/run/data.bin/x')
        fails(errno.ENAMETOOLONG, os.stat, top / ('x' * 256))


@case
def dot_dot_leads_upwards_at_every_level():
    with mounted(data('example.root')) as top:
        deep = top / 'Events/muons/_0/pt'
        same(os.stat(deep / '..').st_ino, os.stat(top / 'Events/muons/_0').st_ino)
        same(os.stat(deep / '../../..').st_ino, os.stat(top / 'Events').st_ino)


@case
def extended_attributes_describe_a_field():
    with mounted(data('example.root')) as top:
        field = top / 'Events/event'
        names = os.listxattr(field)
        assert len(names) == len(set(names)) > 5 and all(n.startswith('user.ntuplefs.') for n in names), names
        same(os.getxattr(field, 'user.ntuplefs.name'), b'event')
        same(os.getxattr(field, 'user.ntuplefs.type'), b'std::uint64_t')
        same(os.getxattr(field / 'data.bin', 'user.ntuplefs.dtype'), b'<u8')
        for path, _ in walk(field):
            for name in os.listxattr(path):
                os.getxattr(path, name)


@case
def every_extended_attribute_that_is_listed_has_a_value():
    """Programs that copy attributes, such as rsync -X, give up a file if one has none."""
    paths = [data(name) for name in ('empty.root', 'trees/trees_baskets.root', 'lance_nested_2.1.lance')]
    with mounted(*paths) as top:
        count = 0
        for path, _ in walk(top):
            count += sum(1 for name in os.listxattr(path) if not os.getxattr(path, name))
        assert count > 10, count  # no pages, no digests
        page = top / 'trees_baskets.root/baskets/list/column.0/pages/0.raw'
        same(os.getxattr(page, 'user.ntuplefs.checksum_kind'), b'none')
        same(os.getxattr(page, 'user.ntuplefs.checksum'), b'')


@case
def extended_attributes_have_the_errors_of_a_file_system():
    with mounted(data('example.root')) as top:
        field, known = top / 'Events/event', 'user.ntuplefs.type'
        for name in 'user.ntuplefs.nothing', 'user.other', 'user.ntuplefs.':
            fails(errno.ENODATA, os.getxattr, field, name)
        for name in 'security.selinux', 'system.posix_acl_access', 'trusted.other':
            fails(errno.EOPNOTSUPP, os.getxattr, field, name)
        path, room = os.fsencode(field), ctypes.create_string_buffer(64)
        same(libc.getxattr(path, known.encode(), None, 0), len('std::uint64_t'))
        same(libc.getxattr(path, known.encode(), room, 3), -1)
        same(ctypes.get_errno(), errno.ERANGE)
        size = libc.listxattr(path, None, 0)
        same(size, sum(len(name) + 1 for name in os.listxattr(field)))
        same(libc.listxattr(path, room, 5), -1)
        same(ctypes.get_errno(), errno.ERANGE)


@case
def statfs_says_size_and_that_nothing_is_free():
    source = data('example.root')
    with mounted(source) as top:
        found = os.statvfs(top)
        same(found.f_blocks, -(-source.stat().st_size // found.f_frsize))
        same((found.f_bfree, found.f_bavail, found.f_ffree, found.f_namemax), (0, 0, 0, 255))
        same((found.f_files, found.f_flag & os.ST_RDONLY), (0, os.ST_RDONLY),
             'how many files there are is not known')
        same(output('df', '--output=itotal,iused,iavail,ipcent', top).split(b'\n')[1].split(),
             [b'0', b'0', b'0', b'-'])


run()
