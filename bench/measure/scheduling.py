# SPDX-License-Identifier: MIT
"""A session with its own scheduling group.

Where the kernel puts each session of processes into a group (sched_autogroup(7)), all groups get
equal shares of the processors, and nice values count only within a group. If another session has
a busy process, measurements get half of the processors. A session of our own that the kernel
prefers gets them all.
"""
import os
import pathlib
import signal
import sys

ENABLED = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")
GROUP = pathlib.Path("/proc/self/autogroup")
NICE = -15
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_in_session(function):
    """Run the function in a child with its own session, and exit with its status. An interrupt
    of this process interrupts the child, so that its mounts are unmounted."""
    # Both processes block the signals until the handlers are ready. They then wait for signals one
    # by one, so that none is lost before the call that waits for the child.
    waited = {number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN} | {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    child = os.fork()
    if not child:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell have none
        signal.pthread_sigmask(signal.SIG_UNBLOCK, waited)
        return function()
    ended, status = 0, 0
    while not ended:
        if signal.sigwait(waited) == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
        else:
            os.kill(child, signal.SIGINT)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, waited)
    status = os.waitstatus_to_exitcode(status)
    sys.exit(status if status >= 0 else 128 - status)


def prefer(enabled=ENABLED, group=GROUP):
    """Let the kernel prefer this session's group and all its processes; without groups, this
    process. Returns the result in words."""
    has_groups = enabled.exists() and enabled.read_text().strip() == "1"
    whose = "own" if has_groups else "none on this machine"
    try:
        if has_groups:
            group.write_text(str(NICE))
        else:
            os.setpriority(os.PRIO_PROCESS, 0, NICE)
    except OSError as error:
        return f"{whose}, NOT preferred ({error.strerror}): what else runs takes its share"
    return f"{whose}, preferred (nice {NICE})"
