/* SPDX-License-Identifier: MIT
 *
 * A compromised program. LD_PRELOAD loads this before the C library. Once, in the middle of a reply to the
 * kernel or of its output, it makes the calls that a sandbox must refuse. It prints the result of each to
 * stderr: "escape NAME ERRNO", 0 if the call was allowed. NTUPLE_ESCAPE=N:FILE: at the Nth call of writev, or
 * of sendmsg without descriptors (of write or fflush if N is negative). FILE is not a file of the program.
 * Its directory has nothing else of importance.
 *
 * Calls that would change the process have arguments that the kernel refuses with another error if it gets to
 * look at them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int countdown, when_written;
static const char *file = "";

/* ---- attempts: not negative, or errno ---- */

static long read_file(void)
{
    return syscall(SYS_openat, AT_FDCWD, file, O_RDONLY);
}

static long write_file(void)
{
    return syscall(SYS_openat, AT_FDCWD, file, O_WRONLY);
}

static long make_file(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.made", file);
    return syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
}

static long truncate_file(void)
{
    return syscall(SYS_truncate, file, 0);
}

static long change_mode(void)
{
    return syscall(SYS_fchmodat, AT_FDCWD, file, 0600);
}

static long link_file(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.link", file);
    return syscall(SYS_linkat, AT_FDCWD, file, AT_FDCWD, path, 0);
}

static long link_elsewhere(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.symlink", file);
    return syscall(SYS_symlinkat, "/etc", AT_FDCWD, path);
}

static long move_file(void)
{
    return syscall(SYS_renameat2, AT_FDCWD, file, AT_FDCWD, file, 0);
}

static long make_socket(void)
{
    return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static long make_local_socket(void)
{
    return syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}

static long make_datagram_pair(void)
{
    int ends[2];
    return syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, ends);
}

static long listen_to_others(void)
{
    int listener = (int)make_socket();
    return listener < 0 ? listener : listen(listener, 1);
}

static long wait_for_datagrams(void)
{
    const struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int socket = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0);
    return socket < 0 ? socket : syscall(SYS_bind, socket, &place, sizeof(place));
}

static long make_ping_socket(void)
{
    return syscall(SYS_socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
}

static long listen_to_kernel(void)
{
    return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static long make_process(void)
{
    long process = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (process == 0)
        _exit(0);
    return process;
}

static long make_process_anew(void)
{
    unsigned long long arguments[8] = {[4] = SIGCHLD};
    long process = syscall(435 /* clone3 */, arguments, sizeof(arguments));
    if (process == 0)
        _exit(0);
    return process;
}

static long run_program(void)
{
    return syscall(SYS_execve, "/nowhere/program", NULL, NULL);
}

static long trace_other(void)
{
    return syscall(SYS_ptrace, PTRACE_SEIZE, 0x3ffffffe, NULL, NULL);
}

static long read_other(void)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)&countdown, 1};
    return syscall(SYS_process_vm_readv, getppid(), &here, 1, &there, 1, 0);
}

static long send_signal(void)
{
    return syscall(SYS_kill, getppid(), 0);
}

static long send_signal_to_thread(void)
{
    return syscall(SYS_tgkill, getppid(), getppid(), 0);
}

static long mount_something(void)
{
    return syscall(SYS_mount, "none", "/nowhere/place", "tmpfs", 0, NULL);
}

static long unmount_something(void)
{
    return syscall(SYS_umount2, "/nowhere/place", 0);
}

static long change_root(void)
{
    return syscall(SYS_chroot, "/nowhere/place");
}

static long leave_namespace(void)
{
    return syscall(SYS_unshare, 0);
}

static long become_other(void)
{
    return syscall(SYS_setresuid, -1, -1, -1);
}

static long be_dumpable(void)
{
    return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long map_code(void)
{
    return syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long make_code(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return syscall(SYS_mprotect, memory, 4096, PROT_READ | PROT_EXEC);
}

static long make_memory_file(void)
{
    return syscall(SYS_memfd_create, "code", 0);
}

static long load_program(void)
{
    return syscall(SYS_bpf, BPF_PROG_LOAD, NULL, 0);
}

static long look_at_events(void)
{
    return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
}

static long add_key(void)
{
    return syscall(SYS_add_key, NULL, NULL, NULL, 0, 0);
}

static long control_device(void)
{
    return syscall(SYS_ioctl, STDERR_FILENO, 0x5412 /* TIOCSTI */, "x");
}

/* Only files at the path of an option can be written, nothing else. */
static const struct {
    const char *name;
    long (*attempt)(void);
} attempts[] = {
    {"read_file", read_file},
    {"write_file", write_file},
    {"make_file", make_file},
    {"truncate_file", truncate_file},
    {"change_mode", change_mode},
    {"link_file", link_file},
    {"link_elsewhere", link_elsewhere},
    {"move_file", move_file},
    {"make_socket", make_socket},
    {"make_local_socket", make_local_socket},
    {"make_datagram_pair", make_datagram_pair},
    {"listen_to_others", listen_to_others},
    {"wait_for_datagrams", wait_for_datagrams},
    {"make_ping_socket", make_ping_socket},
    {"listen_to_kernel", listen_to_kernel},
    {"make_process", make_process},
    {"make_process_anew", make_process_anew},
    {"run_program", run_program},
    {"trace_other", trace_other},
    {"read_other", read_other},
    {"send_signal", send_signal},
    {"send_signal_to_thread", send_signal_to_thread},
    {"mount", mount_something},
    {"unmount", unmount_something},
    {"change_root", change_root},
    {"leave_namespace", leave_namespace},
    {"become_other", become_other},
    {"be_dumpable", be_dumpable},
    {"map_code", map_code},
    {"make_code", make_code},
    {"make_memory_file", make_memory_file},
    {"load_program", load_program},
    {"look_at_events", look_at_events},
    {"add_key", add_key},
    {"control_device", control_device},
};

static void try_all(void)
{
    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        errno = 0;
        long result = attempts[i].attempt();
        dprintf(STDERR_FILENO, "escape %s %d\n", attempts[i].name, result < 0 ? errno : 0);
    }
}

__attribute__((constructor)) static void arm(void)
{
    const char *setting = getenv("NTUPLE_ESCAPE");
    if (!setting || !strchr(setting, ':'))
        return;
    countdown = atoi(setting);
    when_written = countdown < 0;
    countdown = abs(countdown);
    file = strchr(setting, ':') + 1;
}

static void count(void)
{
    if (countdown > 0 && --countdown == 0)
        try_all();
}

ssize_t writev(int descriptor, const struct iovec *parts, int part_count)
{
    static __typeof__(&writev) next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "writev");
    if (!when_written)
        count();
    return next(descriptor, parts, part_count);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    static __typeof__(&sendmsg) next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    if (!when_written && !message->msg_control)
        count();
    return next(descriptor, message, flags);
}

ssize_t write(int descriptor, const void *bytes, size_t count_of_bytes)
{
    static __typeof__(&write) next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    if (when_written)
        count();
    return next(descriptor, bytes, count_of_bytes);
}

int fflush(FILE *stream)
{
    static __typeof__(&fflush) next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fflush");
    if (when_written)
        count();
    return next(stream);
}
