/* SPDX-License-Identifier: MIT
 *
 * Starting the network helper.
 */
#include "remote/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/protocol.h"
#include "support.h"
#include "temporary.h"

static struct nt_error error;

static const struct {
    const char *program;
    enum nt_status status;
    int system_error;
    const char *message;
} programs[] = {
    {"", NT_UNSUPPORTED, 0,
     "neither next to this program nor in this build (-Dhttp=enabled, libcurl, expat)"},
    {"/nonexistent/fetch", NT_UNSUPPORTED, 0, "remote files need /nonexistent/fetch, which is not installed"},
    {"/dev/null/fetch", NT_UNSUPPORTED, 0, "remote files need /dev/null/fetch, which is not installed"},
    {"/dev/null", NT_IO, EACCES, "cannot start /dev/null"},
};

static const struct nt_helper_rules no_rules = {.addresses = NULL};

static void write_scripts(void);

TEST(a_program_that_cannot_be_started_is_named, .setup = write_scripts, .teardown = temporary_teardown,
     .end = sizeof(programs) / sizeof(*programs))
{
    int channel = -1;
    assert_status(programs[_i].status, nt_helper_start(programs[_i].program, &no_rules, &channel, &error));
    ck_assert_msg(strstr(error.message, programs[_i].message) != NULL, "%s", error.message);
    ck_assert_int_eq(error.system_error, programs[_i].system_error);
    ck_assert_int_eq(channel, -1);
}

/* Its only end of the socket is its standard input: senders notice its end, too. */
TEST(a_program_that_ends_at_once_is_started, .setup = write_scripts, .teardown = temporary_teardown, .end = 2)
{
    static const char *const addresses[] = {"http://h/file", NULL};
    const struct nt_helper_rules rules = {addresses, true};
    int channel = -1;
    char byte;
    assert_ok(nt_helper_start("/bin/true", _i ? &rules : &no_rules, &channel, &error));
    ck_assert_int_le(recv(channel, &byte, 1, 0), 0);
    close(channel);
}

/* "cat" answers each packet alone. */
TEST(the_helper_first_gets_its_rules, .setup = write_scripts, .teardown = temporary_teardown)
{
    static const char *const addresses[] = {"http://h/a/file?secret", "s3://bucket/run*.root", NULL};
    const struct {
        uint32_t kind;
        uint64_t flags;
        const char *text;
    } reported[] = {{NT_FETCH_ALLOW, 0, "http://h/a/file"},
                    {NT_FETCH_ALLOW, 0, "s3://bucket"},
                    {NT_FETCH_BEGIN, NT_FETCH_ALLOWED_ALONE | NT_FETCH_CERTIFICATE_TO_ORIGIN, ""}};
    const struct nt_helper_rules rules = {addresses, true};
    char packet[256];
    struct nt_fetch_request request;
    int channel = -1;
    assert_ok(nt_helper_start(temporary_path("echo"), &rules, &channel, &error));
    for (size_t i = 0; i < sizeof(reported) / sizeof(*reported); i++) {
        ssize_t count = recv(channel, packet, sizeof(packet) - 1, 0);
        ck_assert_int_eq(count, sizeof(request) + strlen(reported[i].text));
        packet[count] = '\0';
        memcpy(&request, packet, sizeof(request));
        ck_assert_uint_eq(request.kind, reported[i].kind);
        ck_assert_uint_eq(request.bytes, reported[i].flags);
        ck_assert_str_eq(packet + sizeof(request), reported[i].text);
    }
    close(channel);
}

/* Twice as many as there are prefetches at once, and those of some readers. */
TEST(a_helper_that_is_busy_takes_many_requests, .setup = write_scripts, .teardown = temporary_teardown)
{
    enum { ENOUGH = 500 };
    const struct nt_fetch_request request = {.kind = NT_FETCH_READ};
    int channel = -1, count = 0;
    assert_ok(nt_helper_start(temporary_path("busy"), &no_rules, &channel, &error));
    while (count < ENOUGH && nt_helper_send(channel, &request, "", 0, MSG_DONTWAIT))
        count++;
    ck_assert_int_eq(count, ENOUGH);
    close(channel);
}

static void write_script(const char *name, const char *script)
{
    int descriptor = open(temporary_path(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    ck_assert_int_eq(write(descriptor, script, strlen(script)), strlen(script));
    close(descriptor);
}

static void write_scripts(void)
{
    temporary_setup();
    write_script("echo", "#!/bin/sh\nexec 3<&0; cat <&3 >&3 &\n");
    write_script("busy", "#!/bin/sh\nexec 3<&0; sleep 3 <&3 &\n");
}
