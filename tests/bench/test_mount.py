# SPDX-License-Identifier: MIT
"""Waiting for a daemon that does not end."""
import contextlib
import io
import subprocess
import sys
import time
import unittest

from measure.mount import end

STUBBORN = ("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
            "print('ready', flush=True); time.sleep(600)")


class Ends(unittest.TestCase):
    def ended(self, command, ready=False):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            if ready:
                process.stdout.readline()
            reported, start = io.StringIO(), time.monotonic()
            with contextlib.redirect_stderr(reported):
                status = end(process, 0.2)
            return status, reported.getvalue().count("did not end"), time.monotonic() - start

    def test_a_process_that_ends_is_left_alone(self):
        self.assertEqual(self.ended(["sh", "-c", "exit 3"])[:2], (3, 0))

    def test_a_process_that_does_not_end_is_asked_to(self):
        status, complaints, seconds = self.ended(["sleep", "600"])
        self.assertEqual((status, complaints), (-15, 1))
        self.assertLess(seconds, 60)

    def test_a_process_that_does_not_listen_is_killed(self):
        self.assertEqual(self.ended([sys.executable, "-c", STUBBORN], ready=True)[:2], (-9, 2))


if __name__ == "__main__":
    unittest.main()
