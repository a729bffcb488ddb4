# SPDX-License-Identifier: MIT
"""A slow line to a server on this machine, by the program of tests/support/slow_line.c."""
import contextlib
import os
import subprocess


class Line:
    """port: of its near end; happened: 'cut', 'stalled', after its end."""


@contextlib.contextmanager
def slow_line(port, **shown):
    """rtt, rate, window, cut, stall, stall_for: options of the program."""
    options = [word for name, value in shown.items() for word in (f'--{name.replace("_", "-")}', str(value))]
    line = Line()
    with subprocess.Popen([os.environ['SLOW_LINE'], *options, str(port)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            line.port = int(process.stdout.readline())
            yield line
        finally:
            process.stdin.close()  # it ends with that
            line.happened = process.stdout.read().split()
