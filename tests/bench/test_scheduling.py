# SPDX-License-Identifier: MIT
"""The session of the measurements, and the message if the kernel does not prefer it."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from measure.scheduling import NICE, prefer

SESSION = """
import os, signal, sys, time
from measure.scheduling import run_in_session
def work():
    print(os.getsid(0) == os.getpid(), flush=True)
    {}
run_in_session(work)
"""


def run(work, ignored=()):
    """Signals have the default actions of a terminal's program, except those that it ignores:
    nohup or a background shell may have started the tests."""
    def set_signals():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    return subprocess.run([sys.executable, "-c", SESSION.format(work)], stdout=subprocess.PIPE, text=True,
                          preexec_fn=set_signals)


class Sessions(unittest.TestCase):
    def test_work_leads_a_session_and_its_exit_status_is_ours(self):
        for work, status in (("sys.exit(7)", 7), ("sys.exit(0)", 0),
                             ("os.kill(os.getpid(), signal.SIGKILL)", 128 + 9)):
            done = run(work)
            self.assertEqual((done.stdout, done.returncode), ("True\n", status), work)

    def test_signals_interrupt_the_session(self):
        for name, ignored in (("SIGINT", []), ("SIGTERM", []), ("SIGHUP", []), ("SIGTERM", [signal.SIGINT])):
            done = run(f"""
    try:
        os.kill(os.getppid(), signal.{name})
        for _ in range(300):
            time.sleep(0.1)
    except KeyboardInterrupt:
        sys.exit(5)""", ignored)
            self.assertEqual(done.returncode, 5, name)


class Preference(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.enabled, self.group = (pathlib.Path(self.folder.name, name) for name in ("enabled", "group"))

    def tearDown(self):
        self.folder.cleanup()

    def test_a_group_is_raised_and_said_to_be(self):
        self.enabled.write_text("1\n")
        self.assertEqual(prefer(self.enabled, self.group), f"own, preferred (nice {NICE})")
        self.assertEqual(self.group.read_text(), str(NICE))

    def test_a_group_that_cannot_be_raised_is_reported(self):
        self.enabled.write_text("1\n")
        self.group.mkdir()
        self.assertRegex(prefer(self.enabled, self.group), r"^own, NOT preferred \(")

    def test_without_groups_the_process_itself_is_nice(self):
        self.enabled.write_text("0\n")
        child = os.fork()
        if not child:
            message = prefer(self.enabled, self.group)
            is_raised = os.nice(0) == NICE
            is_right = ("NOT" in message) != is_raised and message.startswith("none on this machine")
            os._exit(0 if is_right else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertFalse(self.group.exists())


if __name__ == "__main__":
    unittest.main()
