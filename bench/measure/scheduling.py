# SPDX-License-Identifier: MIT
"""A scheduling group of our own.

Where the kernel puts each session of processes into a group (sched_autogroup(7)), all groups get the same share of the
processors, and nice counts only within one: beside another session's busy process whatever is measured here has half of
them, however nice that one is. A session of our own, which the kernel prefers, has them all.
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
    """Run the function in a child with a session of its own, and exit as it does. Whoever ends us interrupts it, so that its
    mounts do not stay."""
    # Both keep them blocked until they know what to do with them; we take them one by one, so that none is lost on the way
    # into a call that waits for the child.
    waited = {number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN} | {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    child = os.fork()
    if not child:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job has not
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
    """Let the kernel prefer this session's group, or this process where it makes no groups, and all that it starts; what came
    of it, in words for the results."""
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
