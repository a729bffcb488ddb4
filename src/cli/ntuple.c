/* SPDX-License-Identifier: MIT
 *
 * The program ntuple, which reads the virtual tree without a mount: the table of commands, help, and
 * main.
 */
#include "cli/cli.h"

#include <signal.h>

static const struct nt_command command_help, command_complete;

static const struct nt_command *const commands[] = {
    &nt_command_ls,       &nt_command_tree,   &nt_command_cat,    &nt_command_head,    &nt_command_schema,
    &nt_command_stat,     &nt_command_cp,     &nt_command_verify, &nt_command_inspect, &nt_command_diff,
    &nt_command_describe, &nt_command_export, &command_help,      &command_complete,
};
enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static const struct nt_option common_options[] = {
    NT_OPTION('h', "help", FLAG, help, .help = "print this text"),
    NT_OPTION('V', "version", FLAG, version,
              .help = "print the versions of ntuple and its deflate and lzma libraries"),
    {0},
};

static const struct nt_option no_options[] = {{0}};

static const struct nt_option *options_of(const struct nt_command *command)
{
    return command->options ? command->options : no_options;
}

static void print_usage(const struct nt_command *command)
{
    printf("usage: ntuple %s [options] %s\n%s\n\nOptions:\n", command->name, command->operands,
           command->help);
    nt_options_help(stdout, options_of(command), NULL);
    nt_options_help(stdout, common_options, options_of(command));
    if (command->compares)
        printf("\nExit status: 0 same, 1 different, 2 something cannot be compared\n");
    printf("\nFor the options of all commands, the formats and the exit status, see ntuple --help or "
           "ntuple(1).\n");
}

static void print_help(void)
{
    printf("usage: ntuple COMMAND [options] FILE...\nReads the tree that ntuplefs shows, without a mount.\n"
           "FILE is a file, a directory of files or an address.\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        char left[64];
        snprintf(left, sizeof(left), "%-8s %s", commands[i]->name, commands[i]->operands);
        nt_help_row(stdout, left, 40, commands[i]->help);
    }
    printf("\nOptions of all commands:\n");
    nt_options_help(stdout, common_options, NULL);
    nt_options_help(stdout, nt_tree_options, NULL);
    nt_formats_help(stdout);
    nt_exit_status_help(stdout);
}

static enum nt_exit_status print_versions(const char *subject, int operand_count)
{
    struct nt_error error = {0};
    if (nt_check_versions(operand_count, &error) != NT_OK)
        return nt_print_error(subject, &error);
    nt_print_versions("ntuple", NULL);
    return nt_finish_output();
}

/* Reports wrong usage; a NULL subject means the whole command line. */
static enum nt_exit_status complain_about_usage(const char *subject, const char *what)
{
    return nt_print_failure(subject, NT_INVALID, "%s; see ntuple --help", what);
}

static enum nt_exit_status complain_about_count(const struct nt_command *command, const char *what)
{
    return nt_print_failure(command->name, NT_INVALID, "%s; usage: ntuple %s [options] %s", what,
                            command->name, command->operands);
}

/* Prepares what the command needs before the sandbox. */
static enum nt_status prepare(struct nt_invocation *invocation, struct nt_settings *settings,
                              struct nt_arena *arena, struct nt_error *error)
{
    invocation->chains = nt_arena_alloc(arena, (size_t)invocation->operand_count + 1, sizeof(void *));
    NT_TRY(nt_check_memory(invocation->chains, error));
    NT_CLEANUP(nt_addresses_deinit) struct nt_addresses addresses = {.count = 0};
    for (int i = 0; i < nt_source_count(invocation); i++) {
        const char *operand = invocation->operands[i];
        NT_TRY(nt_expand_sources(settings, &operand, 1, &invocation->chains[i], &addresses, error));
    }
    return nt_start_helper(settings, &addresses, invocation->command->reads_columns, error);
}

static enum nt_exit_status prepare_and_run(const struct nt_command *command, int argument_count,
                                           char **arguments, struct nt_arena *arena, bool *has_run_ret)
{
    const struct nt_option *const tables[] = {options_of(command), common_options, nt_tree_options, NULL};
    struct nt_settings settings = {0};
    struct nt_error error = {0};
    struct nt_sandbox sandbox = {0};
    struct nt_selections selections = {0};
    int first;
    if (nt_options_parse(tables, false, argument_count, arguments, &settings, arena, &first, &error) != NT_OK)
        return nt_print_error(command->name, &error);
    if (settings.help) {
        print_usage(command);
        return nt_finish_output();
    }
    int count = argument_count - first;
    if (settings.version)
        return print_versions(command->name, count);
    if (count < command->fewest)
        return complain_about_count(command, "too few arguments");
    if (command->most && count > command->most)
        return complain_about_count(command, "too many arguments");
    struct nt_invocation invocation = {.command = command,
                                       .settings = &settings,
                                       .operands = arguments + first,
                                       .operand_count = count,
                                       .sandbox = &sandbox,
                                       .selections = &selections};
    if (prepare(&invocation, &settings, arena, &error) != NT_OK)
        return nt_print_error(command->name, &error);
    *has_run_ret = true;
    enum nt_exit_status status = command->run(&invocation);
    nt_fetcher_free(settings.tree.open.fetcher);
    nt_selections_deinit(&selections);
    for (int i = 0; i < count; i++)
        nt_chain_list_free(invocation.chains[i]);
    return status;
}

/* For a command that compares, wrong arguments are TROUBLE, not a difference. */
static enum nt_exit_status run(const struct nt_command *command, int argument_count, char **arguments,
                               struct nt_arena *arena)
{
    bool has_run = false;
    enum nt_exit_status status = prepare_and_run(command, argument_count, arguments, arena, &has_run);
    return command->compares && !has_run && status != NT_EXIT_OK ? NT_EXIT_TROUBLE : status;
}

static const struct nt_command *command_named(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static enum nt_exit_status run_help(const struct nt_invocation *invocation)
{
    const char *name = invocation->operand_count ? invocation->operands[0] : NULL;
    const struct nt_command *command = name ? command_named(name) : NULL;
    if (name && !command)
        return complain_about_usage(name, "unknown command");
    if (command)
        print_usage(command);
    else
        print_help();
    return nt_finish_output();
}

static const struct nt_command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .help = "print the usage of a command",
    .most = 1,
    .run = run_help,
};

/* Called while the user types: ignores all errors. */
static enum nt_exit_status run_complete(const struct nt_invocation *invocation)
{
    const struct nt_complete_tables tables = {commands, COMMANDS, common_options};
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    if (!arena)
        return NT_EXIT_INTERNAL;
    nt_complete(stdout, &tables, invocation->operands, invocation->operand_count, arena);
    return nt_finish_output();
}

static const struct nt_command command_complete = {
    .name = "complete",
    .operands = "-- WORD...",
    .help = "print completions of the last word of a command line, for shells",
    .fewest = 1,
    .run = run_complete,
};

static enum nt_exit_status parse_and_run(int argument_count, char **arguments, struct nt_arena *arena)
{
    const struct nt_option *const tables[] = {common_options, NULL};
    struct nt_settings settings = {0};
    struct nt_error error = {0};
    int first;
    if (nt_options_parse(tables, true, argument_count, arguments, &settings, arena, &first, &error) !=
        NT_OK) /* an option that is wrong here may be valid after a command */
        return nt_print_failure(NULL, error.status,
                                "%s; put options after the command: ntuple COMMAND [options] FILE...",
                                error.message);
    if (settings.help) {
        print_help();
        return nt_finish_output();
    }
    if (settings.version)
        return print_versions(NULL, argument_count - first);
    if (first == argument_count)
        return complain_about_usage(NULL, "missing command");
    const struct nt_command *command = command_named(arguments[first]);
    if (!command)
        return complain_about_usage(arguments[first], "unknown command");
    return run(command, argument_count - first, arguments + first, arena);
}

int main(int argument_count, char **arguments)
{
    if (!nt_standard_streams_open())
        return NT_EXIT_INTERNAL;
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is no failure: see nt_finish_output */
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    char **copies = arena ? nt_arguments_hide(argument_count, arguments, arena) : NULL;
    return copies ? parse_and_run(argument_count, copies, arena) : nt_print_no_memory(NULL);
}
