# SPDX-License-Identifier: MIT
"""The load of the machine by other programs."""
import os
import subprocess
import sys
import unittest

from measure.machine import Others, busy_seconds

BUSY = "import time; end = time.process_time() + {}\nwhile time.process_time() < end: pass"


class Work(unittest.TestCase):
    def test_idle_and_waiting_processors_do_not_work(self):
        ticks = os.sysconf("SC_CLK_TCK")
        text = "cpu  {} {} {} 900000 800000 {} {} {} 0 0\ncpu0 7 7 7\n".format(*(n * ticks
                for n in (1, 2, 4, 8, 16, 32)))
        self.assertEqual(busy_seconds(text), 63)

    def test_the_work_of_a_child_that_ended_is_not_that_of_others(self):
        others = Others()
        subprocess.run([sys.executable, "-c", BUSY.format(1)], check=True)
        (begin, before, _), (end, after, _) = others.start, others.now()
        self.assertLess(others.processors(), (after - before - 0.5) / (end - begin))


if __name__ == "__main__":
    unittest.main()
