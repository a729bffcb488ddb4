/* SPDX-License-Identifier: MIT
 *
 * Seccomp filter: a table of allowed system calls by use, compiled to BPF. All other calls fail with
 * EPERM.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/sanitizer.h"

#if defined(__x86_64__) && defined(__LP64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define ARCHITECTURE 0 /* unknown system calls */
#endif

/* Equal on all architectures; missing from the headers of older systems. */
enum { CALL_CLONE3 = 435, CALL_OPENAT2 = 437, CALL_FACCESSAT2 = 439 };

#ifdef SYS_rseq
#define CALL_RSEQ SYS_rseq
#elif defined(__x86_64__)
#define CALL_RSEQ 334
#else
#define CALL_RSEQ 293
#endif

enum {
    ALWAYS = 0,
    STARTS = NT_SANDBOX_STARTS,
    OPENS = NT_SANDBOX_OPENS,
    WRITES = NT_SANDBOX_WRITES,
    TERMINAL = NT_SANDBOX_TERMINAL,
    FETCHES = NT_SANDBOX_FETCHES,
    CONNECTS = NT_SANDBOX_CONNECTS,
    LOADS = NT_SANDBOX_LOADS,
    RENAMES = NT_SANDBOX_RENAMES,
    BENEATH = 1 << 8, /* only if landlock checks what the filter cannot */
    SANITIZED = 1 << 9,
};

enum condition {
    ANY,
    HAS,     /* the argument has all bits of `value` */
    HAS_NOT, /* it has none of them */
    NEVER,   /* it has all bits: refused, later rows are ignored */
    IS,
    IS_SELF, /* this process */
    IS_NULL, /* a null pointer */
    TYPE_IS, /* the type of a socket, without flags */
};

struct argument_check {
    enum condition condition;
    unsigned argument, value;
};

enum { MAX_CHECKS = 3 };

struct call {
    unsigned number;
    unsigned use;                             /* all of these bits are required; ALWAYS */
    struct argument_check checks[MAX_CHECKS]; /* all must hold; ANY ends the list */
};

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)

/* The first matching row decides. Calls of every read come first: older kernels test row by row. */
static const struct call calls[] = {
    {SYS_pread64, ALWAYS, {{ANY, 0, 0}}},
    {SYS_writev, ALWAYS, {{ANY, 0, 0}}},
    {SYS_read, ALWAYS, {{ANY, 0, 0}}},
    {SYS_fstat, ALWAYS, {{ANY, 0, 0}}},
    {SYS_futex, ALWAYS, {{ANY, 0, 0}}},
    {SYS_newfstatat, ALWAYS, {{ANY, 0, 0}}},
    {SYS_ppoll, ALWAYS, {{ANY, 0, 0}}},
#ifdef SYS_poll
    {SYS_poll, ALWAYS, {{ANY, 0, 0}}},
#endif
    {SYS_write, ALWAYS, {{ANY, 0, 0}}},
    {SYS_close, ALWAYS, {{ANY, 0, 0}}},
    {SYS_lseek, ALWAYS, {{ANY, 0, 0}}},
    {SYS_fcntl, ALWAYS, {{IS, 1, F_GETFL}}},
    {SYS_fcntl, ALWAYS, {{IS, 1, F_GETFD}}}, /* libfuse before 3.13 */
    {SYS_fcntl, ALWAYS, {{IS, 1, F_SETFD}}},
    {SYS_fcntl, ALWAYS, {{IS, 1, F_DUPFD_CLOEXEC}}},
    /* memory: never executable */
    {SYS_mmap, ALWAYS, {{HAS_NOT, 2, PROT_EXEC}}},
    {SYS_mprotect, ALWAYS, {{HAS_NOT, 2, PROT_EXEC}}},
    {SYS_munmap, ALWAYS, {{ANY, 0, 0}}},
    {SYS_mremap, ALWAYS, {{ANY, 0, 0}}},
    {SYS_madvise, ALWAYS, {{ANY, 0, 0}}},
    {SYS_brk, ALWAYS, {{ANY, 0, 0}}},
    {SYS_sysinfo, ALWAYS, {{ANY, 0, 0}}}, /* qsort */
    /* threads, but no processes */
    {SYS_clone, ALWAYS, {{HAS, 0, CLONE_THREAD}}},
    {SYS_set_robust_list, ALWAYS, {{ANY, 0, 0}}},
    {CALL_RSEQ, ALWAYS, {{ANY, 0, 0}}},
    {SYS_gettid, ALWAYS, {{ANY, 0, 0}}},
    {SYS_getpid, ALWAYS, {{ANY, 0, 0}}},
    {SYS_tgkill, ALWAYS, {{IS_SELF, 0, 0}}},
    {SYS_exit, ALWAYS, {{ANY, 0, 0}}},
    {SYS_exit_group, ALWAYS, {{ANY, 0, 0}}},
    {SYS_sched_yield, ALWAYS, {{ANY, 0, 0}}},
    {SYS_sched_getaffinity, ALWAYS, {{ANY, 0, 0}}},
    {SYS_getcpu, ALWAYS, {{ANY, 0, 0}}},           /* used if the C library has no other way */
    {SYS_sched_setaffinity, ALWAYS, {{IS, 0, 0}}}, /* own process only */
    {SYS_sched_setattr, ALWAYS, {{IS, 0, 0}}},     /* own process only */
    {SYS_getpriority, ALWAYS, {{IS, 1, 0}}},       /* own process only */
    {SYS_prctl, ALWAYS, {{IS, 0, PR_SET_NAME}}},
    {SYS_prlimit64, ALWAYS, {{IS, 0, 0}}}, /* own process only */
#ifdef SYS_getrlimit
    {SYS_getrlimit, ALWAYS, {{ANY, 0, 0}}},
#endif
    {SYS_getuid, ALWAYS, {{ANY, 0, 0}}},
    {SYS_geteuid, ALWAYS, {{ANY, 0, 0}}},
    {SYS_getegid, ALWAYS, {{ANY, 0, 0}}},
    /* signals, time */
    {SYS_rt_sigaction, ALWAYS, {{ANY, 0, 0}}},
    {SYS_rt_sigprocmask, ALWAYS, {{ANY, 0, 0}}},
    {SYS_rt_sigreturn, ALWAYS, {{ANY, 0, 0}}},
    {SYS_restart_syscall, ALWAYS, {{ANY, 0, 0}}},
    {SYS_clock_gettime, ALWAYS, {{ANY, 0, 0}}},
    {SYS_gettimeofday, ALWAYS, {{ANY, 0, 0}}},
    {SYS_clock_nanosleep, ALWAYS, {{ANY, 0, 0}}},
    {SYS_nanosleep, ALWAYS, {{ANY, 0, 0}}},
    {SYS_getrandom, ALWAYS, {{ANY, 0, 0}}},

    {SYS_setsid, STARTS, {{ANY, 0, 0}}},
    {SYS_chdir, STARTS, {{ANY, 0, 0}}},
    {SYS_dup3, STARTS, {{ANY, 0, 0}}},
#ifdef SYS_dup2
    {SYS_dup2, STARTS, {{ANY, 0, 0}}},
#endif
    {SYS_recvmsg, STARTS, {{ANY, 0, 0}}},
    {SYS_seccomp, STARTS, {{ANY, 0, 0}}}, /* a narrower filter; a filter cannot widen another */
    {SYS_eventfd2, STARTS, {{ANY, 0, 0}}},

    {SYS_openat, OPENS | WRITES, {{ANY, 0, 0}}},
    {SYS_openat, OPENS, {{HAS_NOT, 2, WRITING}}},
#ifdef SYS_open
    {SYS_open, OPENS, {{HAS_NOT, 1, WRITING}}},
#endif
    {CALL_OPENAT2, OPENS | BENEATH, {{ANY, 0, 0}}},
    {SYS_getdents64, OPENS, {{ANY, 0, 0}}},
    {SYS_readlinkat, OPENS, {{ANY, 0, 0}}},
    {SYS_faccessat, OPENS, {{ANY, 0, 0}}},
    {CALL_FACCESSAT2, OPENS, {{ANY, 0, 0}}},
    {SYS_getcwd, OPENS, {{ANY, 0, 0}}},
#ifdef SYS_statx
    {SYS_statx, OPENS, {{ANY, 0, 0}}},
#endif
#ifdef SYS_readlink
    {SYS_readlink, OPENS, {{ANY, 0, 0}}},
    {SYS_stat, OPENS, {{ANY, 0, 0}}},
    {SYS_lstat, OPENS, {{ANY, 0, 0}}},
    {SYS_access, OPENS, {{ANY, 0, 0}}},
#endif

    {SYS_pwrite64, WRITES, {{ANY, 0, 0}}},
    {SYS_ftruncate, WRITES, {{ANY, 0, 0}}},
    {SYS_fallocate, WRITES, {{ANY, 0, 0}}},
    {SYS_unlinkat, WRITES, {{ANY, 0, 0}}},
    {SYS_mkdirat, WRITES, {{ANY, 0, 0}}},
#ifdef SYS_unlink
    {SYS_unlink, WRITES, {{ANY, 0, 0}}},
    {SYS_mkdir, WRITES, {{ANY, 0, 0}}},
#endif

    {SYS_renameat2, RENAMES, {{ANY, 0, 0}}}, /* a finished file to its name */

    {SYS_sendto, FETCHES, {{IS_NULL, 4, 0}}}, /* only to the connected peer */
    {SYS_shutdown, FETCHES, {{ANY, 0, 0}}},

    /* servers, and name resolution: resolvers over UDP and TCP, addresses from the kernel. No local
     * services: buses, key agents and container engines listen on file sockets */
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET}, {TYPE_IS, 1, SOCK_STREAM}, {IS, 2, 0}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET}, {TYPE_IS, 1, SOCK_STREAM}, {IS, 2, IPPROTO_TCP}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET}, {TYPE_IS, 1, SOCK_DGRAM}, {IS, 2, 0}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET}, {TYPE_IS, 1, SOCK_DGRAM}, {IS, 2, IPPROTO_UDP}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET6}, {TYPE_IS, 1, SOCK_STREAM}, {IS, 2, 0}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET6}, {TYPE_IS, 1, SOCK_STREAM}, {IS, 2, IPPROTO_TCP}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET6}, {TYPE_IS, 1, SOCK_DGRAM}, {IS, 2, 0}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_INET6}, {TYPE_IS, 1, SOCK_DGRAM}, {IS, 2, IPPROTO_UDP}}},
    {SYS_socket, CONNECTS, {{IS, 0, AF_NETLINK}, {TYPE_IS, 1, SOCK_RAW}, {IS, 2, NETLINK_ROUTE}}},
    {SYS_bind,
     CONNECTS,
     {{IS, 2, sizeof(struct sockaddr_nl)}}}, /* netlink: address queries; too short for IP */
    {SYS_dup3, CONNECTS, {{ANY, 0, 0}}},     /* atomically replaces the copy of a file */
    {SYS_connect, CONNECTS, {{ANY, 0, 0}}},
    {SYS_sendto, CONNECTS, {{ANY, 0, 0}}},
    {SYS_sendmsg, CONNECTS, {{ANY, 0, 0}}},
    {SYS_sendmmsg, CONNECTS, {{ANY, 0, 0}}},
    {SYS_recvfrom, CONNECTS, {{ANY, 0, 0}}},
    {SYS_recvmsg, CONNECTS, {{ANY, 0, 0}}},
    {SYS_getsockname, CONNECTS, {{ANY, 0, 0}}},
    {SYS_getpeername, CONNECTS, {{ANY, 0, 0}}},
    {SYS_getsockopt, CONNECTS, {{ANY, 0, 0}}},
    {SYS_setsockopt, CONNECTS, {{ANY, 0, 0}}},
    {SYS_shutdown, CONNECTS, {{ANY, 0, 0}}},
    {SYS_fcntl, CONNECTS, {{IS, 1, F_SETFL}}},
    {SYS_ioctl, CONNECTS, {{IS, 1, FIONREAD}}},
    {SYS_ioctl, CONNECTS, {{IS, 1, FIONBIO}}},
    {SYS_uname, CONNECTS, {{ANY, 0, 0}}},
    /* wakes a thread that polls */
    {SYS_socketpair, CONNECTS, {{NEVER, 1, SOCK_DGRAM}}}, /* datagrams could be sent to other sockets */
    {SYS_socketpair, CONNECTS, {{IS, 0, AF_UNIX}}},
    {SYS_pipe2, CONNECTS, {{ANY, 0, 0}}},
    {SYS_eventfd2, CONNECTS, {{ANY, 0, 0}}},
    {SYS_epoll_create1, CONNECTS, {{ANY, 0, 0}}},
    {SYS_epoll_ctl, CONNECTS, {{ANY, 0, 0}}},
    {SYS_epoll_pwait, CONNECTS, {{ANY, 0, 0}}},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, CONNECTS, {{ANY, 0, 0}}},
#endif

    /* code from files: landlock selects them, and no file is writable here */
    {SYS_mmap, LOADS, {{NEVER, 3, MAP_ANONYMOUS}}},
    {SYS_mmap, LOADS, {{HAS_NOT, 2, PROT_WRITE}}},
    /* loaded code reads Kerberos tickets under locks */
    {SYS_fcntl, LOADS, {{IS, 1, F_OFD_SETLK}}},
    {SYS_fcntl, LOADS, {{IS, 1, F_OFD_SETLKW}}},

    {SYS_ioctl, TERMINAL, {{IS, 1, TIOCGWINSZ}}},
    {SYS_ioctl, TERMINAL, {{IS, 1, TCGETS}}},

    {SYS_openat, SANITIZED, {{HAS_NOT, 2, WRITING}}},
    {SYS_readlinkat, SANITIZED, {{ANY, 0, 0}}},
#ifdef SYS_readlink
    {SYS_readlink, SANITIZED, {{ANY, 0, 0}}},
    {SYS_open, SANITIZED, {{HAS_NOT, 1, WRITING}}},
    {SYS_stat, SANITIZED, {{ANY, 0, 0}}},
    {SYS_getdents, SANITIZED, {{ANY, 0, 0}}},
#endif
    {SYS_getdents64, SANITIZED, {{ANY, 0, 0}}},
    {SYS_clone, SANITIZED, {{ANY, 0, 0}}},
    {SYS_ptrace, SANITIZED, {{ANY, 0, 0}}},
    {SYS_wait4, SANITIZED, {{ANY, 0, 0}}},
    {SYS_prctl, SANITIZED, {{ANY, 0, 0}}},
    {SYS_sigaltstack, SANITIZED, {{ANY, 0, 0}}},
    {SYS_getppid, SANITIZED, {{ANY, 0, 0}}},
    {SYS_kill, SANITIZED, {{IS_SELF, 0, 0}}},
    {SYS_process_vm_readv, SANITIZED, {{ANY, 0, 0}}},
    {SYS_uname, SANITIZED, {{ANY, 0, 0}}},
    {SYS_prlimit64, SANITIZED, {{ANY, 0, 0}}},
    {SYS_dup, SANITIZED, {{ANY, 0, 0}}},
    {SYS_ioctl, SANITIZED, {{ANY, 0, 0}}},
};

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)

enum { CALLS = sizeof(calls) / sizeof(*calls), MAX_STEPS = (3 + 4 * MAX_CHECKS) * CALLS + 16 };

struct program {
    struct sock_filter steps[MAX_STEPS];
    unsigned short count;
};

#define WORD_OF(member) (uint32_t) offsetof(struct seccomp_data, member)

static void add(struct program *program, unsigned code, uint32_t operand, unsigned skip_if,
                unsigned skip_else)
{
    program->steps[program->count++] =
        (struct sock_filter){(uint16_t)code, (uint8_t)skip_if, (uint8_t)skip_else, operand};
}

static void load(struct program *program, size_t offset)
{
    add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void end(struct program *program, uint32_t outcome)
{
    add(program, BPF_RET | BPF_K, outcome, 0, 0);
}

/* The kernel uses only the lower half of the arguments with conditions, except for pointers. */
static unsigned add_check(struct program *program, const struct argument_check *check, unsigned short jumps[])
{
    const size_t lower = WORD_OF(args) + check->argument * sizeof(uint64_t);
    uint32_t value = check->condition == IS_SELF ? (uint32_t)getpid() : check->value;
    unsigned count = 0;
    load(program, lower);
    if (check->condition == HAS || check->condition == NEVER)
        add(program, BPF_ALU | BPF_AND | BPF_K, value, 0, 0);
    if (check->condition == TYPE_IS)
        add(program, BPF_ALU | BPF_AND | BPF_K, (uint32_t) ~(SOCK_NONBLOCK | SOCK_CLOEXEC), 0, 0);
    if (check->condition == IS_NULL) {
        jumps[count++] = program->count;
        add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0);
        load(program, lower + sizeof(uint32_t));
        value = 0;
    }
    jumps[count++] = program->count;
    add(program, BPF_JMP | (check->condition == HAS_NOT ? BPF_JSET : BPF_JEQ) | BPF_K, value, 0, 0);
    return count;
}

/* Jumps to the next row if the call or an argument does not match. */
static void add_call(struct program *program, const struct call *call)
{
    unsigned short jumps[2 * MAX_CHECKS];
    unsigned count = 0, start = program->count;
    add(program, BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, 0);
    for (unsigned i = 0; i < MAX_CHECKS && call->checks[i].condition != ANY; i++)
        count += add_check(program, &call->checks[i], jumps + count);
    end(program, call->checks[0].condition == NEVER ? REFUSED : SECCOMP_RET_ALLOW);
    const unsigned restored = program->count;
    if (count)
        load(program, WORD_OF(nr));
    for (unsigned i = 0; i < count; i++) {
        struct sock_filter *jump = &program->steps[jumps[i]];
        uint8_t skip = (uint8_t)(restored - jumps[i] - 1);
        if (BPF_OP(jump->code) == BPF_JSET)
            jump->jt = skip;
        else
            jump->jf = skip;
    }
    program->steps[start].jf = (uint8_t)(program->count - start - 1);
}

static void make(struct program *program, unsigned uses)
{
    load(program, WORD_OF(arch));
    add(program, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    end(program, SECCOMP_RET_KILL_PROCESS);
    load(program, WORD_OF(nr));
    for (size_t i = 0; i < CALLS; i++)
        if ((calls[i].use & ~uses) == 0)
            add_call(program, &calls[i]);
    /* The filter cannot read its flags; the C library falls back to the older call. */
    add(program, BPF_JMP | BPF_JEQ | BPF_K, CALL_CLONE3, 0, 1);
    end(program, SECCOMP_RET_ERRNO | ENOSYS);
    end(program, REFUSED);
}

int nt_seccomp_enter(unsigned uses, bool has_landlock)
{
    struct program program = {.count = 0};
    if (ARCHITECTURE == 0)
        return ENOSYS;
    make(&program, uses | (has_landlock ? BENEATH : 0) | (NT_IS_SANITIZED ? SANITIZED : 0));
    const struct sock_fprog filter = {program.count, program.steps};
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    return result == 0 ? 0 : result < 0 ? errno : EAGAIN; /* positive: a thread that fails */
}
