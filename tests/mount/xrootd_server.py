# SPDX-License-Identifier: MIT
"""An XRootD server for tests, if it is installed: on a port of its own, of a directory, read only."""
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

from harness import Skip, wait_until
from web import is_open, unused_port


class Xrootd:
    def __init__(self, directory, folder, more=''):
        self.program = shutil.which('xrootd')
        if not self.program:
            raise Skip('xrootd-server is not installed')
        self.directory, self.port, self.process = directory, unused_port(), None
        self.own = directory / 'xrootd'
        self.own.mkdir()
        if os.geteuid() == 0:  # it does not run as root
            os.chown(self.own, pwd.getpwnam('nobody').pw_uid, -1)
        (directory / 'xrootd.cfg').write_text(f"""
            xrd.port {self.port}
            xrd.network nodnr
            all.export / r/o
            oss.localroot {folder}
            all.adminpath {self.own}
            all.pidpath {self.own}
            {more}
            """)

    def url(self, name, scheme='root'):
        return f'{scheme}://127.0.0.1:{self.port}//{name}'

    def start(self):
        user = ['-R', 'nobody'] if os.geteuid() == 0 else []
        self.process = subprocess.Popen([self.program, *user, '-c', self.directory / 'xrootd.cfg', '-l',
                                         self.own / 'log', '-n', 'test'],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        wait_until(lambda: is_open(self.port) or self.process.poll() is not None, 'xrootd')
        if self.process.poll() is not None:
            raise Skip('xrootd does not run here')

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        """Returns when none of its threads answers any more."""
        self.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: all(stat.read_text().rsplit(')', 1)[1].split()[0] == 'T'
                               for stat in Path(f'/proc/{self.process.pid}/task').glob('*/stat')),
                   'stopped')

    def resume(self):
        self.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def xrootd(directory, folder, more=''):
    server = Xrootd(directory, folder, more)
    try:
        server.start()
        yield server
    finally:
        if server.process:
            server.kill()
