# SPDX-License-Identifier: MIT
"""Common parts of the tests of real mounts: cases, mounts, paths. Python 3 and NumPy; no test
framework.

A script decorates its cases with @case and ends with run(). Each case prints one line, named
after its function. The exit status is 1 if a case failed, and 77 (shown by meson as skipped) if
nothing can be mounted here.
"""
import concurrent.futures
import contextlib
import errno
import importlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

NTUPLEFS = os.environ.get('NTUPLEFS', 'ntuplefs')
NTUPLE = os.environ.get('NTUPLE', 'ntuple')
DATA = Path(os.environ.get('NTUPLE_TEST_DATA', Path(__file__).parent.parent / 'data'))
MANUALS = Path(__file__).parent.parent.parent / 'docs' / 'man'
TIMEOUT = 60
# seconds for programs that end by themselves, on a busy machine, too; a read of a silent server
# takes 60 by default
IN_TIME = 20
NOTE = re.compile(r'ntuplefs: (mounted |unmounted |got signal |unused for |libfuse [0-9.]+ needs )')

# A shell ignores it for jobs in the background, and programs that a test starts would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

cases = []


class Skip(Exception):
    """Raised by a case that cannot run here, with the reason."""


def case(function):
    cases.append(function)
    return function


def fuse_problem():
    """Why nothing can be mounted here, or None."""
    try:
        os.close(os.open('/dev/fuse', os.O_RDWR))
    except OSError as error:
        return f'/dev/fuse: {error.strerror}'
    if os.geteuid() != 0 and not shutil.which('fusermount3'):
        return 'fusermount3 is missing'
    return None


def attempt(function):
    """The result of a case, and its line."""
    name = function.__name__.replace('_', ' ')
    try:
        function()
        return 'ok', f'ok   {name}'
    except Skip as reason:
        return 'skip', f'skip {name}: {reason}'
    except Exception:
        return 'FAIL', f'FAIL {name}\n{traceback.format_exc().rstrip()}'


def run(needs_fuse=True, at_once=1):
    """`at_once`: for cases that mostly wait, and are independent."""
    problem = fuse_problem() if needs_fuse else None
    if problem:
        print(f'skip everything: {problem}')
        sys.exit(77)
    for ignored in signal.SIGHUP, signal.SIGQUIT:  # under nohup, or in the background: programs inherit it
        signal.signal(ignored, signal.SIG_DFL)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for result, line in (pool.map if at_once > 1 else map)(attempt, cases):
            failed += result == 'FAIL'
            print(line, flush=True)
    print(f'{len(cases) - failed} of {len(cases)} passed')
    sys.exit(1 if failed else 0)


def libfuse_lacks():
    """What the program says that it needs a newer libfuse for, or None."""
    reported = re.search('^libfuse (needs .*)$', output(NTUPLEFS, '--version').decode(), re.M)
    return reported and f'libfuse {reported[1]}'


def enter_namespace(script):
    """Start a script again in a mount namespace of its own; returns the reason if that is
    impossible."""
    if os.environ.get('NTUPLEFS_TEST_NAMESPACE') == script:
        return None
    if os.geteuid() != 0:
        return 'only root has mount namespaces'
    if not shutil.which('unshare') or command('unshare', '--mount', 'true').returncode != 0:
        return 'no mount namespaces here'
    os.environ['NTUPLEFS_TEST_NAMESPACE'] = script
    os.execvp('unshare', ['unshare', '--mount', sys.executable, script])


def need(name):
    """A Python package that is not always installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skip(f'{name} is not installed') from None


def data(name):
    path = DATA / name
    if not path.exists():
        raise Skip(f'{name} is not there')
    return path


def pread(path, size, offset, flags=0):
    """The bytes of a file, through a descriptor of their own."""
    descriptor = os.open(path, os.O_RDONLY | flags)
    try:
        return os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)


def is_answered(path):
    """Repeats while a server is out of reach, and as long as that is remembered."""
    try:
        return len(path.read_bytes()) > 0
    except OSError as error:
        same(error.errno, errno.EIO, path)
        return False


def flip(path, offset, bit=0x10):
    """Damage a file: flip a bit of one byte."""
    with open(path, 'r+b') as file:
        byte = os.pread(file.fileno(), 1, offset)
        os.pwrite(file.fileno(), bytes([byte[0] ^ bit]), offset)


def lines(path):
    """The values of a .jsonl file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def errors_of(mountpoint):
    return lines(mountpoint / '.ntuplefs/errors.jsonl')


def stats(mountpoint):
    return json.loads((mountpoint / '.ntuplefs/stats.json').read_text())


def parts_of(top):
    """The parts of the sandbox that a mount has."""
    return json.loads((top / '.ntuplefs/version.json').read_text())['sandbox']


def same(found, expected, what=''):
    if found != expected:
        raise AssertionError(f'{what}: expected {expected!r}, found {found!r}')


def version_of(path):
    """What differs after each write. The access time is left out: reading changes it, too."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def fails(errno_expected, function, *arguments, **options):
    """The call must fail with this errno."""
    try:
        function(*arguments, **options)
    except OSError as error:
        same(error.errno, errno_expected, f'{getattr(function, "__name__", function)}: {error}')
        return
    raise AssertionError(f'{function} succeeded')


def on_a_terminal(*arguments, **streams):
    """What a program writes to a terminal, except the given streams."""
    master, slave = pty.openpty()
    process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL,
                               **{'stdout': slave, 'stderr': slave, **streams})
    os.close(slave)
    text = b''
    with contextlib.suppress(OSError):  # end of the output
        while block := os.read(master, 4096):
            text += block
    process.wait()
    os.close(master)
    return text


def command(*arguments, **options):
    """Run a program to its end; its output as bytes."""
    options.setdefault('timeout', TIMEOUT)
    options.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run([str(a) for a in arguments], capture_output=True, **options)


def output(*arguments, **options):
    """The output of a program that must succeed."""
    result = command(*arguments, **options)
    same(result.returncode, 0, f'{arguments}: {result.stderr.decode(errors="replace")}')
    return result.stdout


def cat_lines(source, path):
    """The values of a .jsonl file of a source's tree, without a mount."""
    return [json.loads(line) for line in output(NTUPLE, 'cat', source, path).splitlines()]


def ntuplefs(*arguments, **options):
    return command(NTUPLEFS, *arguments, **options)


def wait_until(condition, what, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'not within {seconds} s: {what}')
        time.sleep(0.01)


@contextlib.contextmanager
def scratch(below=None):
    """A directory that other users can enter, too; `below`: its parent, instead of TMPDIR."""
    directory = Path(tempfile.mkdtemp(prefix='ntuplefs-test-', dir=below))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        for path in directory.iterdir():
            if is_mounted(path):
                detach(path)
        shutil.rmtree(directory, ignore_errors=True)


def mounts():
    """{mountpoint: (type, source, options)}, without touching the mounts."""
    table = {}
    for line in Path('/proc/self/mounts').read_text(errors='surrogateescape').splitlines():
        source, mountpoint, kind, options = (field.encode('utf-8', 'surrogateescape').decode('unicode_escape')
                                             for field in line.split(' ')[:4])
        table[mountpoint] = (kind, source, options.split(','))
    return table


def is_mounted(path):
    return str(path) in mounts()


def unmount(path):
    """Other programs, such as df, use each mount of the machine for a moment."""
    def is_done():
        result = command('fusermount3', '-u', path)
        if result.returncode and b'busy' not in result.stderr:
            raise AssertionError(result.stderr)
        return result.returncode == 0

    wait_until(is_done, f'unmounted {path}')


def detach(path):
    return command('fusermount3', '-u', '-z', path)


def processes_of(mountpoint):
    """The processes of a mount, by their arguments: the supervisor, and its child, the worker."""
    found = []
    for directory in Path('/proc').iterdir():
        try:
            arguments = (directory / 'cmdline').read_bytes().split(b'\0')
        except OSError:
            continue
        if len(arguments) > 2 and Path(os.fsdecode(arguments[0])).name == Path(NTUPLEFS).name \
                and os.fsencode(str(mountpoint)) in arguments:
            found.append(int(directory.name))
    return sorted(found, key=lambda process: parent_of(process) in found)


def daemon_of(mountpoint):
    """The main process of a mount; None if there is none."""
    return next(iter(processes_of(mountpoint)), None)


def open_in(process):
    """What a process has open, without descriptors that are closed meanwhile."""
    found = []
    for descriptor in Path(f'/proc/{process}/fd').iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(descriptor))
    return found


def decoder_of(mountpoint):
    """The process that reads the sources of a mount and answers."""
    return processes_of(mountpoint)[1]


# Their allocators keep freed memory, and need more of it.
IS_SANITIZED = bool(os.environ.get('ASAN_OPTIONS') or os.environ.get('TSAN_OPTIONS'))


def own_memory_of(process):
    return int(re.search(r'^RssAnon:\s+(\d+)', Path(f'/proc/{process}/status').read_text(),
                         re.MULTILINE)[1]) * 1024


def parent_of(process):
    try:
        return int(status_of(process)[1])
    except OSError:
        return None


def status_of(process):
    """The fields of /proc/<process>/stat that follow the name; the first is the state."""
    return Path(f'/proc/{process}/stat').read_text().rsplit(')', 1)[1].split()


def is_running(process):
    """Does a process exist, and is it no zombie?"""
    try:
        return status_of(process)[0] != 'Z'
    except OSError:
        return False


def processor_seconds(process):
    """The CPU time of a process so far, in the kernel and outside."""
    return sum(map(int, status_of(process)[11:13])) / os.sysconf('SC_CLK_TCK')


def own_seconds(process):
    """The CPU time of a process so far, outside of the kernel. On a shared machine, the kernel's
    time for a request varies by a factor of three."""
    return int(status_of(process)[11]) / os.sysconf('SC_CLK_TCK')


def high_water(process):
    """The peak memory of a process so far, in bytes."""
    status = Path(f'/proc/{process}/status').read_text()
    return int(re.search(r'VmHWM:\s+(\d+) kB', status)[1]) * 1024


@contextlib.contextmanager
def mounted(*sources, options=(), env=None, reported=None):
    """Mount in the background, unmount at the end; returns the mountpoint. `reported` is a part of what the
    mount prints on standard error; '': it prints nothing."""
    with scratch() as directory:
        mountpoint = directory / 'mnt'
        result = ntuplefs(*options, *sources, mountpoint, env=env)
        messages = result.stderr.decode(errors='replace')
        same(result.returncode, 0, f'mounting: {messages}')
        try:
            if reported is not None:
                same((bool(messages), reported in messages), (bool(reported), True), f'printed {messages!r}')
            yield mountpoint
        finally:
            if is_mounted(mountpoint):
                detach(mountpoint)


def needs(*parts):
    """For a case that needs some parts of the sandbox."""
    with mounted(data('example.root')) as top:
        missing = set(parts) - set(parts_of(top))
    if missing:
        raise Skip(f'this kernel has no {", ".join(sorted(missing))}')


class Foreground:
    """A mount with -f in a child process, whose standard error is kept."""

    def __init__(self, *sources, options=()):
        self.sources, self.options = sources, options

    def __enter__(self):
        self.scratch = scratch()
        self.directory = self.scratch.__enter__()
        self.mountpoint = self.directory / 'mnt'
        self.log = open(self.directory / 'stderr', 'w+b')
        self.process = subprocess.Popen([NTUPLEFS, '-f', *self.options, *map(str, self.sources),
                                         str(self.mountpoint)],
                                        stderr=self.log, stdin=subprocess.DEVNULL)
        wait_until(lambda: is_mounted(self.mountpoint) or self.process.poll() is not None, 'mounted')
        os.listdir(self.mountpoint)  # waits until the program serves
        return self

    @property
    def decoder(self):
        return decoder_of(self.mountpoint)

    def log_lines(self):
        return Path(self.log.name).read_text().splitlines()

    def messages(self):
        """The errors: the log without notices. The process with the log writes a moment after
        the other one has reported."""
        def found():
            return [line for line in self.log_lines() if not NOTE.match(line)]

        reported = errors_of(self.mountpoint) if is_mounted(self.mountpoint) else []
        wait_until(lambda: len(found()) >= len(reported), f'{len(reported)} messages')
        return found()

    def end(self, number=signal.SIGTERM):
        """Send a signal; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(TIMEOUT)

    def __exit__(self, *exception):
        self.end()
        self.log.close()
        return self.scratch.__exit__(*exception)
