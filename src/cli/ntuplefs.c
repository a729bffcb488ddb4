/* SPDX-License-Identifier: MIT
 *
 * The mount program. In: arguments. Out: a mount that works, or a message and an exit status.
 *
 * The process that was started ends only when the kernel has accepted the mount. It forks before the first thread is
 * made.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/ntuple.h>

#include "cli/arguments.h"
#include "cli/fetching.h"
#include "cli/program.h"
#include "cli/standard_streams.h"
#include "cli/versions.h"

static void print_help(void)
{
    printf("usage: " NT_PROGRAM " [options] %s\n"
           "Show RNTuple files and other columnar data as a tree of files; unmount with fusermount3 -u "
           "MOUNTPOINT.\n"
           "\nOptions:\n",
           nt_mount_operands);
    nt_options_help(stdout, nt_mount_switches);
    printf("\nOptions that can also stand after -o, as NAME[=VALUE],...:\n");
    nt_options_help(stdout, nt_mount_options);
    nt_options_help(stdout, nt_tree_options);
    nt_options_help(stdout, nt_accepted_options);
    nt_formats_help(stdout);
    nt_exit_status_help(stdout);
}

static void print_version(void)
{
    nt_print_versions(NT_PROGRAM, nt_mount_libfuse_version());
    if (nt_mount_libfuse_lacks())
        printf("libfuse %s\n", nt_mount_libfuse_lacks());
}

/* What was asked for in place of a mount. */
static enum nt_exit_status print(struct nt_program *program, int operand_count)
{
    struct nt_error error = {0};
    if (program->settings.help)
        print_help();
    else if (nt_check_versions(operand_count, &error) == NT_OK)
        print_version();
    else
        return nt_program_fail(program, NT_EXIT_USAGE, &error);
    return nt_standard_output_finish(&error) == NT_OK ? NT_EXIT_OK
                                                      : nt_program_fail(program, NT_EXIT_OUTPUT, &error);
}

/* To the end of one of the two processes. */
static enum nt_exit_status divide(struct nt_program *program)
{
    struct nt_error error = {0};
    enum nt_supervisor_role role;
    struct nt_addresses addresses = {.count = 0};
    enum nt_status status = nt_find_sources(&program->settings, program->sources, program->source_count,
                                            &program->chain, &addresses, &error);
    if (status == NT_OK)
        status = nt_start_fetching(&program->settings, &addresses, &error);
    nt_addresses_deinit(&addresses);
    if (status == NT_OK)
        status = nt_program_prepare(program, &error);
    if (status != NT_OK)
        return nt_program_fail(program, nt_exit_status(status), &error);
    if (nt_supervisor_start(&program->supervisor, &role, &error) != NT_OK)
        return nt_program_fail(program, NT_EXIT_INTERNAL, &error);
    return role == NT_ROLE_DECODER ? nt_program_decode(program) : nt_program_supervise(program);
}

static enum nt_exit_status run(struct nt_program *program)
{
    struct nt_error error = {0};
    if (!program->settings.foreground && !program->settings.debug) {
        int exit_status;
        switch (nt_background_start(&program->background, NT_EXIT_INTERNAL, &exit_status)) {
        case NT_BACKGROUND_PARENT:
            return exit_status;
        case NT_BACKGROUND_FAILED:
            nt_fail_system(&error, errno, "cannot go to the background");
            return nt_program_fail(program, NT_EXIT_INTERNAL, &error);
        case NT_BACKGROUND_CHILD:
            break;
        }
    }
    enum nt_exit_status status = divide(program);
    nt_chain_list_free(program->chain);
    nt_buffer_deinit(&program->source_text);
    return status;
}

/* Whether mount(8) has called us, by the name of a link: /sbin/mount.ntuplefs. */
static bool is_helper(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash ? slash + 1 : name, "mount.", strlen("mount.")) == 0;
}

static enum nt_exit_status parse_and_run(struct nt_program *program, int argument_count, char **arguments,
                                         struct nt_arena *arena)
{
    struct nt_error error = {0};
    int first;
    const struct nt_option *const tables[] = {is_helper(arguments[0]) ? nt_helper_switches
                                                                      : nt_mount_switches,
                                              nt_mount_options, nt_tree_options, nt_accepted_options};
    if (nt_options_parse(tables, sizeof(tables) / sizeof(*tables), false, argument_count, arguments,
                         &program->settings, arena, &first, &error) != NT_OK)
        return nt_program_fail(program, nt_exit_status(error.status), &error);
    if (program->settings.help || program->settings.version)
        return print(program, argument_count - first);
    if (argument_count - first < 2) {
        nt_fail(&error, NT_INVALID, NT_NO_OFFSET,
                "SOURCE and MOUNTPOINT are needed; see " NT_PROGRAM " --help");
        return nt_program_fail(program, NT_EXIT_USAGE, &error);
    }
    program->sources = (const char *const *)arguments + first;
    program->source_count = (size_t)(argument_count - first - 1);
    program->mountpoint_argument = arguments[argument_count - 1];
    return run(program);
}

int main(int argument_count, char **arguments)
{
    struct nt_program program = {.log = {.program = NT_PROGRAM, .channel = NT_NO_CHANNEL},
                                 .background = NT_FOREGROUND};
    if (!nt_standard_streams_open())
        return NT_EXIT_INTERNAL;
    nt_inherited_close(argument_count, arguments);
    nt_memory_prepare();
    struct nt_error error = {0};
    struct nt_arena *arena = nt_arena_new();
    char **copies = arena ? nt_arguments_hide(argument_count, arguments, arena) : NULL;
    enum nt_exit_status status;
    if (copies) {
        status = parse_and_run(&program, argument_count, copies, arena);
    } else {
        nt_fail_memory(&error);
        status = nt_program_fail(&program, NT_EXIT_INTERNAL, &error);
    }
    nt_buffer_deinit(&program.settings.passed);
    nt_arena_free(arena);
    return status;
}
