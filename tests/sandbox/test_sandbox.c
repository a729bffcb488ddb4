/* SPDX-License-Identifier: MIT
 *
 * What a sandboxed process may do and may not do. Each case enters the sandbox.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "temporary.h"
#include "core/base/sanitizer.h"

NEEDS_PROCESSES("each case enters the sandbox");

static struct nt_sandbox sandbox;

static void setup(void)
{
    temporary_setup();
    ck_assert_int_eq(mkdir(temporary_path("read"), 0700), 0);
    ck_assert_int_eq(mkdir(temporary_path("written"), 0700), 0);
    ck_assert_int_eq(close(open(temporary_path("read/file"), O_WRONLY | O_CREAT, 0600)), 0);
    ck_assert_int_eq(close(open(temporary_path("other"), O_WRONLY | O_CREAT, 0600)), 0);
    ck_assert_int_eq(close(open(temporary_path("single"), O_WRONLY | O_CREAT, 0600)), 0);
}

static void enter(unsigned uses)
{
    const struct nt_sandbox_path paths[] = {{temporary_path("single"), true},
                                            {temporary_path("read"), false},
                                            {temporary_path("written"), true},
                                            {temporary_path("missing"), true}};
    nt_sandbox_enter(&sandbox, &(struct nt_sandbox_rules){paths, sizeof(paths) / sizeof(*paths), uses,
                                                          .has_sources = true});
}

static int exit_of(pid_t process)
{
    int status;
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Runs `attempt` in a process of its own; returns its result, 0 or errno. The memory is shared: a build
 * with -Db_coverage=true counts lines there, and the sandboxed process could write them nowhere. */
static int in_sandbox(unsigned uses, int (*attempt)(void))
{
    pid_t process = vfork();
    if (process == 0) {
        enter(uses);
        _exit(attempt());
    }
    return exit_of(process);
}

static int result_of(long result)
{
    return result < 0 ? errno : 0;
}

static bool holds(const char *name)
{
    for (size_t i = 0; sandbox.parts[i]; i++)
        if (strcmp(sandbox.parts[i], name) == 0)
            return true;
    return false;
}

static int has_landlock(void)
{
    return holds("landlock");
}

static int has_seccomp(void)
{
    return holds("seccomp");
}

/* ---- attempts ---- */

static int opens_file(void)
{
    return result_of(open(temporary_path("read/file"), O_RDONLY));
}

static int opens_other(void)
{
    return result_of(open(temporary_path("other"), O_RDONLY));
}

static int writes_file(void)
{
    return result_of(open(temporary_path("read/file"), O_WRONLY));
}

static int writes_single(void)
{
    return result_of(open(temporary_path("single"), O_WRONLY | O_TRUNC));
}

static int makes_file(void)
{
    return result_of(open(temporary_path("written/new"), O_RDWR | O_CREAT, 0600));
}

static int makes_nameless_file(void)
{
    return result_of(open(temporary_path("written"), O_TMPFILE | O_RDWR, 0600));
}

static void *do_nothing(void *context)
{
    return context;
}

static int starts_thread(void)
{
    pthread_t thread;
    int problem = pthread_create(&thread, NULL, do_nothing, NULL);
    return problem ? problem : pthread_join(thread, NULL);
}

static int forks(void)
{
    pid_t process = fork();
    if (process == 0)
        _exit(0);
    return result_of(process);
}

static int maps_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno
                                                                                                     : 0;
}

static int maps(int protection, int flags, const char *path)
{
    int descriptor = path ? open(temporary_path(path), O_RDONLY) : -1;
    return mmap(NULL, 4096, protection, flags, descriptor, 0) == MAP_FAILED ? errno : 0;
}

static int maps_code_of_file(void)
{
    return maps(PROT_READ | PROT_EXEC, MAP_PRIVATE, "read/file");
}

static int maps_code_to_write(void)
{
    return maps(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, "read/file");
}

/* Nothing listens at the first port. */
static int connects(void)
{
    const struct sockaddr_in nobody = {
        .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? errno : result_of(connect(descriptor, (const void *)&nobody, sizeof(nobody)));
}

static int listens(void)
{
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? ENOTSUP : result_of(listen(descriptor, 1));
}

static int opens_raw_socket(void)
{
    return result_of(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static int opens_local_socket(void)
{
    return result_of(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int pairs(int type)
{
    int ends[2];
    return result_of(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends));
}

static int pairs_streams(void)
{
    return pairs(SOCK_STREAM);
}

/* Each of them could be connected to another one. */
static int pairs_datagrams(void)
{
    return pairs(SOCK_DGRAM);
}

static int opens(int family, int type, int protocol)
{
    return result_of(socket(family, type | SOCK_CLOEXEC, protocol));
}

static int opens_ping_socket(void)
{
    return opens(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
}

static int opens_other_stream(void)
{
    return opens(AF_INET6, SOCK_STREAM, IPPROTO_SCTP);
}

/* As a resolver does, and as getaddrinfo asks the kernel for addresses. */
static int opens_datagram_socket(void)
{
    return opens(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP);
}

static int listens_to_kernel(void)
{
    return opens(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static int binds_to_routes(void)
{
    const struct sockaddr_nl place = {.nl_family = AF_NETLINK};
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return descriptor < 0 ? ENOTSUP : result_of(bind(descriptor, (const void *)&place, sizeof(place)));
}

static int binds_to_port(void)
{
    const struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return descriptor < 0 ? ENOTSUP : result_of(bind(descriptor, (const void *)&place, sizeof(place)));
}

/* Over a socket that was open before; an address whose lower half is 0. */
static int datagram_socket;

static int sends_to_other(void)
{
    void *place = mmap((void *)(UINT64_C(1) << 32), 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED)
        return ENOTSUP;
    *(struct sockaddr_in *)place = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return result_of(sendto(datagram_socket, "", 1, 0, place, sizeof(struct sockaddr_in)));
}

static int sends_to_whom_it_knows(void)
{
    return result_of(send(datagram_socket, "", 1, 0));
}

/* As Kerberos does before it reads tickets. */
static int locks_file(void)
{
    int descriptor = open(temporary_path("read/file"), O_RDONLY);
    struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return descriptor < 0 ? errno : result_of(fcntl(descriptor, F_OFD_SETLKW, &all));
}

static int opens_file_after_narrowing(void)
{
    return nt_sandbox_narrow(&sandbox, 0) ? opens_file() : ENOTSUP;
}

static int starts_thread_after_narrowing(void)
{
    return nt_sandbox_narrow(&sandbox, 0) ? starts_thread() : ENOTSUP;
}

static int names_each_part(void)
{
    static const char *const names[] = {"no_new_privs", "capabilities", "landlock", "not_dumpable",
                                        "seccomp"};
    for (size_t i = 0; i < NT_SANDBOX_PARTS; i++)
        if (holds(names[i]) == (strstr(sandbox.missing, names[i]) != NULL))
            return 1;
    return 0;
}

/* A process that is already in one lacks the rights that the parts need. */
static int has_no_part_of_a_second(void)
{
    enter(0);
    for (const char *at = sandbox.missing; (at = strstr(at, "(")); at++)
        if (strncmp(at, "(Operation not permitted)", strlen("(Operation not permitted)")) != 0)
            return 1;
    return sandbox.parts[0] || names_each_part() ? 2 : 0;
}

static int does_not_narrow_in_a_second(void)
{
    return nt_sandbox_narrow(&sandbox, 0) ? 1 : 0;
}

/* ---- cases ---- */

TEST(what_is_needed_works, .setup = setup, .teardown = temporary_teardown)
{
    const unsigned all = NT_SANDBOX_STARTS | NT_SANDBOX_OPENS | NT_SANDBOX_WRITES;
    ck_assert_int_eq(in_sandbox(all, opens_file), 0);
    ck_assert_int_eq(in_sandbox(all, writes_single), 0);
    ck_assert_int_eq(in_sandbox(all, makes_file), 0);
    ck_assert_int_eq(in_sandbox(all, makes_nameless_file), 0);
    ck_assert_int_eq(in_sandbox(all, starts_thread), 0);
    if (in_sandbox(all, has_seccomp))
        ck_assert_int_eq(in_sandbox(all, starts_thread_after_narrowing), 0);
}

TEST(other_files_are_out_of_reach, .setup = setup, .teardown = temporary_teardown)
{
    const unsigned all = NT_SANDBOX_OPENS | NT_SANDBOX_WRITES;
    if (!in_sandbox(all, has_landlock))
        return;
    ck_assert_int_eq(in_sandbox(all, opens_other), EACCES);
    ck_assert_int_eq(in_sandbox(all, writes_file), EACCES);
}

/* ---- capabilities ---- */

enum { ALL_GONE, SEARCH_ALONE, OTHERS };

static int kept_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct words[2] = {{0}};
    const uint32_t search = 1u << CAP_DAC_READ_SEARCH;
    if (syscall(SYS_capget, &header, words) != 0 || words[1].effective || words[1].permitted ||
        words[0].effective != words[0].permitted)
        return OTHERS;
    return words[0].effective == search ? SEARCH_ALONE : words[0].effective ? OTHERS : ALL_GONE;
}

/* Without the other parts, one of which does not test anything. */
static int kept_of_a_folder(bool is_source)
{
    const struct nt_sandbox_path folder = {temporary_path("read"), false};
    pid_t process = vfork();
    if (process == 0)
        _exit(nt_capabilities_drop(&(struct nt_sandbox_rules){&folder, 1, 0, is_source})
                  ? OTHERS
                  : kept_capabilities());
    return exit_of(process);
}

TEST(root_keeps_the_right_to_read_what_others_own_for_sources_alone, .setup = setup,
     .teardown = temporary_teardown)
{
    bool has_it = kept_capabilities() != ALL_GONE;
    ck_assert_int_eq(kept_of_a_folder(true), has_it ? SEARCH_ALONE : ALL_GONE);
    ck_assert_int_eq(kept_of_a_folder(false), ALL_GONE);
}

TEST(calls_that_are_not_needed_fail, .setup = setup, .teardown = temporary_teardown)
{
    if (!in_sandbox(0, has_seccomp) || NT_IS_SANITIZED)
        return;
    ck_assert_int_eq(in_sandbox(0, opens_file), EPERM);
    ck_assert_int_eq(in_sandbox(NT_SANDBOX_OPENS, writes_file), EPERM);
    ck_assert_int_eq(in_sandbox(NT_SANDBOX_STARTS | NT_SANDBOX_OPENS, opens_file_after_narrowing), EPERM);
    ck_assert_int_eq(in_sandbox(0, forks), EPERM);
    ck_assert_int_eq(in_sandbox(0, maps_code), EPERM);
}

TEST(the_helper_connects_and_accepts_no_connection, .setup = setup, .teardown = temporary_teardown)
{
    const unsigned uses = NT_SANDBOX_OPENS | NT_SANDBOX_CONNECTS | NT_SANDBOX_LOADS;
    ck_assert_int_eq(in_sandbox(uses, connects), ECONNREFUSED);
    ck_assert_int_eq(in_sandbox(uses, maps_code_of_file), 0);
    ck_assert_int_eq(in_sandbox(uses, locks_file), 0);
    ck_assert_int_eq(in_sandbox(uses, pairs_streams), 0);
    ck_assert_int_eq(in_sandbox(uses, opens_datagram_socket), 0);
    ck_assert_int_eq(in_sandbox(uses, binds_to_routes), 0);
    if (!in_sandbox(uses, has_seccomp) || NT_IS_SANITIZED)
        return;
    ck_assert_int_eq(in_sandbox(NT_SANDBOX_OPENS, connects), EPERM);
    ck_assert_int_eq(in_sandbox(NT_SANDBOX_OPENS, maps_code_of_file), EPERM);
    ck_assert_int_eq(in_sandbox(NT_SANDBOX_OPENS, locks_file), EPERM);
    ck_assert_int_eq(in_sandbox(uses, listens), EPERM);
    ck_assert_int_eq(in_sandbox(uses, opens_raw_socket), EPERM);
    ck_assert_int_eq(in_sandbox(uses, opens_ping_socket), EPERM);
    ck_assert_int_eq(in_sandbox(uses, opens_other_stream), EPERM);
    ck_assert_int_eq(in_sandbox(uses, listens_to_kernel), EPERM);
    ck_assert_int_eq(in_sandbox(uses, binds_to_port), EPERM);
    ck_assert_int_eq(in_sandbox(uses, opens_local_socket), EPERM);
    ck_assert_int_eq(in_sandbox(uses, pairs_datagrams), EPERM);
    ck_assert_int_eq(in_sandbox(uses, maps_code), EPERM);
    ck_assert_int_eq(in_sandbox(uses, maps_code_to_write), EPERM);
}

TEST(a_forked_client_sends_to_its_own_helper_only, .setup = setup, .teardown = temporary_teardown)
{
    datagram_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(in_sandbox(NT_SANDBOX_FETCHES, sends_to_whom_it_knows), EDESTADDRREQ);
    if (in_sandbox(0, has_seccomp) && !NT_IS_SANITIZED)
        ck_assert_int_eq(in_sandbox(NT_SANDBOX_FETCHES, sends_to_other), EPERM);
    close(datagram_socket);
}

TEST(each_part_holds_or_is_named, .setup = setup, .teardown = temporary_teardown)
{
    ck_assert_int_eq(in_sandbox(0, names_each_part), 0);
}

TEST(parts_that_the_system_refuses_are_named_with_the_reason, .setup = setup, .teardown = temporary_teardown)
{
    if (!in_sandbox(0, has_seccomp) || NT_IS_SANITIZED)
        return;
    ck_assert_int_eq(in_sandbox(0, has_no_part_of_a_second), 0);
    ck_assert_int_eq(in_sandbox(0, does_not_narrow_in_a_second), 0);
}
