/* SPDX-License-Identifier: MIT
 *
 * Shell completion: prints the candidates for the last word of a command line, from the tables of
 * commands and options and from the tree of its source.
 */
#include "cli/cli.h"

/* ---- Complete paths ---- */

struct paths {
    FILE *out;
    const char *word;
    size_t directory_length; /* including the slash */
    const char *begun;       /* of the name */
    bool has_only_directories;
};

/* A name with control characters would break the line, and cannot be typed. */
static bool is_printable(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == '\x7f')
            return false;
    return true;
}

static bool take(void *context, const char *name, uint64_t node, enum nt_vfs_class class,
                 uint64_t next_cursor)
{
    const struct paths *paths = context;
    bool is_hidden = (name[0] == '.' && paths->begun[0] != '.') ||
                     (paths->has_only_directories && class != NT_VFS_DIRECTORY && class != NT_VFS_LINK);
    if (!is_hidden && strncmp(name, paths->begun, strlen(paths->begun)) == 0 && is_printable(name))
        fprintf(paths->out, "%.*s%s%s\t\n", (int)paths->directory_length, paths->word, name,
                class == NT_VFS_DIRECTORY || class == NT_VFS_LINK ? "/" : "");
    return true;
}

/* The shell passes words before it expands them. */
static const char *expand_home(const char *source, struct nt_arena *arena)
{
    const char *home = getenv("HOME");
    if (strncmp(source, "~/", 2) != 0 || !home)
        return source;
    const char *path = nt_arena_format(arena, "%s%s", home, source + 1);
    return path ? path : source;
}

/* Prints the paths in a source's tree that begin with `word`, each with a tab at its end; directories
 * end with a slash. Fields of the only dataset need not have it in front. Prints nothing if the source does
 * not open. */
static void complete_file_path(FILE *out, const struct nt_vfs_options *options, const char *source,
                               const char *word, struct nt_arena *arena)
{
    const char *slash = strrchr(word, '/');
    struct paths paths = {
        .out = out, .word = word, .directory_length = slash ? (size_t)(slash + 1 - word) : 0, .begun = word};
    paths.begun += paths.directory_length;
    struct nt_vfs *vfs;
    uint64_t directory;
    if (nt_vfs_new(&source, 1, options, &vfs, NULL) != NT_OK)
        return;
    const char *path = nt_arena_copy(arena, word, paths.directory_length);
    if (path && nt_find_one_node(vfs, path, &directory, NULL) == NT_OK) {
        (void)!nt_vfs_readdir(vfs, directory, 0, take, &paths, NULL);
        uint64_t dataset = nt_node_only_dataset(vfs, directory);
        paths.has_only_directories = true; /* the fields of a dataset that may be left out */
        if (dataset != directory && *paths.begun)
            (void)!nt_vfs_readdir(vfs, dataset, 0, take, &paths, NULL);
    }
    nt_vfs_free(vfs);
}

/* ---- Complete words ---- */

struct completer {
    FILE *out;
    const struct nt_complete_tables *tables;
    const struct nt_command *command;       /* NULL: the line is for ntuplefs, or has no command yet */
    const struct nt_option *const *options; /* tables; ends with NULL */
    struct nt_arena *arena;
    const char *word;
    size_t kept;      /* bytes of the word before the completed part: "--sort=" */
    char **arguments; /* the words before, the command or program first */
    int argument_count;
    bool has_offered_files;
};

static void offer(struct completer *completer, const char *text, const char *suffix, const char *help)
{
    const char *begun = completer->word + completer->kept;
    if (strncmp(text, begun, strlen(begun)) == 0)
        fprintf(completer->out, "%.*s%s%s\t%s\n", (int)completer->kept, completer->word, text, suffix, help);
}

/* ---- Options ---- */

/* The option that a word names, and its value as typed so far; or NULL. */
static const struct nt_option *option_in(const struct completer *completer, const char *word,
                                         const char **value_ret)
{
    *value_ret = NULL;
    if (word[0] != '-')
        return NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        bool has_value = word[2 + length] == '=';
        const struct nt_option *row = nt_option_named(completer->options, word + 2, length, has_value);
        if (has_value)
            *value_ret = word + 2 + length + 1;
        return row && row->argument ? row : NULL;
    }
    for (const char *letter = word + 1; *letter; letter++) {
        const struct nt_option *row = nt_option_lettered(completer->options, *letter);
        if (row && row->argument) {
            *value_ret = letter[1] ? letter + 1 : NULL;
            return row;
        }
    }
    return NULL;
}

static void offer_options(struct completer *completer, const char *dashes, bool with_letters)
{
    char name[80];
    for (size_t i = 0; completer->options[i]; i++)
        for (const struct nt_option *row = completer->options[i]; row->name; row++) {
            if (row->kind == NT_OPTION_IGNORED || row->kind == NT_OPTION_REFUSED ||
                (row->letter && !with_letters))
                continue;
            snprintf(name, sizeof(name), "%s%s", dashes, row->name);
            offer(completer, name, row->argument ? "=" : "", row->help);
        }
}

static void take_value(void *context, const char *value, const char *help)
{
    offer(context, value, "", help);
}

static void complete_choice(struct completer *completer, const struct nt_option *row)
{
    bool has_choices = row->kind == NT_OPTION_CHOICE || row->kind == NT_OPTION_EITHER;
    for (size_t i = 0; has_choices && row->choices[i]; i++)
        if (*row->choices[i])
            offer(completer, row->choices[i], "", "");
    if (row->each_value)
        row->each_value(take_value, completer);
}

/* Completes the last item of a list. */
static void complete_list(struct completer *completer)
{
    const char *item = completer->word + completer->kept;
    for (const char *at = item; *at; at++) {
        if (at[0] == '\\' && at[1])
            at++;
        else if (*at == ',')
            item = at + 1;
    }
    const char *equals = strchr(item, '=');
    completer->kept = (size_t)((equals ? equals + 1 : item) - completer->word);
    if (!equals) {
        offer_options(completer, "", false);
        return;
    }
    const struct nt_option *row = nt_option_named(completer->options, item, (size_t)(equals - item), true);
    if (row)
        complete_choice(completer, row);
}

static void complete_value(struct completer *completer, const struct nt_option *row, const char *value)
{
    completer->kept = (size_t)(value - completer->word);
    if (row->kind == NT_OPTION_LIST)
        complete_list(completer);
    else
        complete_choice(completer, row);
}

/* ---- Operands ---- */

static void offer_files(struct completer *completer, const struct nt_settings *settings, const char *source)
{
    if (!completer->has_offered_files)
        fputs("\tfiles\n", completer->out);
    completer->has_offered_files = true;
}

static void complete_path(struct completer *completer, const struct nt_settings *settings, const char *source)
{
    struct nt_vfs_options options = nt_settings_tree(settings);
    struct nt_sandbox sandbox;
    options.open.open_broken = completer->command && completer->command->shows_broken;
    options.threads = 0; /* decodes nothing */
    source = expand_home(source, completer->arena);
    fputs("\tpaths\n", completer->out);
    if (nt_enter_sandbox(settings, &source, 1, NULL, 0, NT_SANDBOX_OPENS, &sandbox, NULL) == NT_OK)
        complete_file_path(completer->out, &options, source, completer->word, completer->arena);
}

static void complete_command(struct completer *completer, const struct nt_settings *settings,
                             const char *source)
{
    for (size_t i = 0; i < completer->tables->command_count; i++)
        offer(completer, completer->tables->commands[i]->name, "", completer->tables->commands[i]->help);
}

/* Operand names as in the help of commands. */
static const struct {
    const char *name;
    void (*complete)(struct completer *completer, const struct nt_settings *settings, const char *source);
    int source; /* index of the operand whose tree contains the path */
} operand_kinds[] = {
    {"FILE", offer_files, 0},        {"A", offer_files, 0},           {"B", offer_files, 0},
    {"DESTINATION", offer_files, 0}, {"SOURCE", offer_files, 0},      {"MOUNTPOINT", offer_files, 0},
    {"PATH", complete_path, 0},      {"PATH_IN_B", complete_path, 1}, {"COMMAND", complete_command, 0},
    {"DATASET", complete_path, 0},   {"OUT", offer_files, 0},
};

/* Completes all operands that a position may have, by a usage such as "FILE [PATH] DESTINATION". */
static void complete_operand(struct completer *completer, const char *usage, int position,
                             const struct nt_settings *settings, char **operands)
{
    int fewest = 0, most = 0; /* number of operands before this one */
    bool is_repeated = false, is_within = false;
    while (*usage) {
        size_t length = strcspn(usage, " ");
        bool is_optional = *usage == '[';
        const char *name = usage + is_optional;
        is_repeated = is_repeated || memmem(usage, length, "...", 3);
        size_t name_length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        /* in "[A [B]]", B requires A */
        bool is_here = (is_within ? most : fewest) <= position && (position <= most || is_repeated);
        for (size_t i = 0; is_here && i < sizeof(operand_kinds) / sizeof(*operand_kinds); i++)
            if (strlen(operand_kinds[i].name) == name_length &&
                strncmp(operand_kinds[i].name, name, name_length) == 0)
                operand_kinds[i].complete(completer, settings, operands[operand_kinds[i].source]);
        is_within = is_optional && usage[length - 1] != ']';
        fewest += !is_optional;
        most++;
        usage += length + strspn(usage + length, " ");
    }
}

/* ---- The command line ---- */

static void complete_operands(struct completer *completer, const char *usage)
{
    struct nt_settings settings = {0};
    struct nt_error error = {0};
    int first;
    if (nt_options_parse(completer->options, false, completer->argument_count, completer->arguments,
                         &settings, completer->arena, &first, &error) == NT_OK)
        complete_operand(completer, usage, completer->argument_count - first, &settings,
                         completer->arguments + first);
    nt_buffer_deinit(&settings.passed);
}

static void complete_line(struct completer *completer, const char *usage)
{
    const char *value;
    const struct nt_option *row =
        option_in(completer, completer->arguments[completer->argument_count - 1], &value);
    if (row && !value) {
        complete_value(completer, row, completer->word);
        return;
    }
    row = option_in(completer, completer->word, &value);
    if (row && value)
        complete_value(completer, row, value);
    else if (completer->word[0] == '-')
        offer_options(completer, "--", true);
    else
        complete_operands(completer, usage);
}

static void complete_tool(struct completer *completer)
{
    const struct nt_complete_tables *tables = completer->tables;
    int at = 1;
    while (at < completer->argument_count && completer->arguments[at][0] == '-')
        at++;
    const struct nt_command *command = NULL;
    for (size_t i = 0; at < completer->argument_count && i < tables->command_count; i++)
        if (strcmp(tables->commands[i]->name, completer->arguments[at]) == 0)
            command = tables->commands[i];
    completer->command = command;
    if (at == completer->argument_count) {
        completer->options = (const struct nt_option *const[]){tables->common_options, NULL};
        complete_line(completer, "COMMAND");
    } else if (command) {
        completer->options = (const struct nt_option *const[]){tables->common_options, nt_tree_options,
                                                               command->options, NULL};
        completer->arguments += at;
        completer->argument_count -= at;
        complete_line(completer, command->operands);
    }
}

void nt_complete(FILE *out, const struct nt_complete_tables *tables, char **words, int word_count,
                 struct nt_arena *arena)
{
    if (word_count < 2)
        return;
    const char *slash = strrchr(words[0], '/');
    struct completer completer = {
        .out = out,
        .tables = tables,
        .arena = arena,
        .word = words[word_count - 1],
        .arguments = words,
        .argument_count = word_count - 1,
    };
    if (strcmp(slash ? slash + 1 : words[0], "ntuplefs") != 0) {
        complete_tool(&completer);
        return;
    }
    completer.options = (const struct nt_option *const[]){nt_mount_switches, nt_mount_options,
                                                          nt_tree_options, nt_accepted_options, NULL};
    complete_line(&completer, nt_mount_operands);
}
