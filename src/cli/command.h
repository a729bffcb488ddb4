/* SPDX-License-Identifier: MIT
 *
 * A command of the ntuple tool: a row of the table in ntuple.c, and a file command_<name>.c. Adding one is
 * adding both. `ntuple --help` and the parsing of arguments come from the row.
 */
#ifndef NT_CLI_COMMAND_H
#define NT_CLI_COMMAND_H

#include <sys/stat.h>

#include "cli/exit_status.h"
#include "cli/settings.h"

struct nt_choices;
struct nt_long_text;
struct nt_progress;
struct nt_sandbox;

struct nt_invocation {
    const struct nt_command *command;
    const struct nt_settings *settings;
    char **operands;
    int operand_count;
    struct nt_sandbox *sandbox; /* what of it holds, once the command is confined */
    struct nt_choices *choices; /* what the options choose, once a tree was opened */
    struct nt_chain_list *
        *chains; /* [operand], likewise: the files that a source stands for; NULL: it is no chain */
};

struct nt_command {
    const char *name;
    const char *operands; /* for --help: "FILE [PATH...]" */
    const char *help;
    int fewest, most;                /* operands */
    const struct nt_option *options; /* its own ones beside those of all commands */
    int sources;                     /* of the operands: so many, or all of fewer. 0: the first */
    bool writes;                     /* to the last operand, and below */
    bool names_owners;               /* with `details` */
    bool shows_broken;               /* also files of which no data set opens */
    bool compares;                   /* ends as exit_status.h says of such commands */
    enum nt_exit_status (*run)(const struct nt_invocation *invocation);
};

extern const struct nt_command nt_command_ls, nt_command_tree, nt_command_cat, nt_command_stat, nt_command_cp,
    nt_command_verify, nt_command_inspect, nt_command_schema, nt_command_head, nt_command_diff;

/* ---- what commands share: common.c ---- */

/* "ntuple: <subject>: <message>" on stderr, without a subject where that is NULL; returns the exit status. */
enum nt_exit_status nt_complain(const char *subject, const struct nt_error *error);

/* Also where links lead to one. */
bool nt_is_directory(const char *path);

/* The first failure decides how a command that goes on ends. */
static inline void nt_note_failure(enum nt_exit_status *first, enum nt_exit_status status)
{
    if (*first == NT_EXIT_OK)
        *first = status;
}

/* How many operands, from the first on, name sources. */
int nt_source_count(const struct nt_invocation *invocation);

/* Give up all but what the command needs, before it looks at a source and starts a thread; complains where that cannot be. */
enum nt_exit_status nt_confine_command(const struct nt_invocation *invocation);

/* The tree of a source; complains where it cannot be opened, and tells what is broken where that is shown. */
enum nt_exit_status nt_open_tree(const struct nt_invocation *invocation, const char *source,
                                 struct nt_vfs **vfs_ret);

/* Call `visit` for each PATH operand behind FILE (the root where there is none). Goes on after failures and
 * returns the first. `visit` complains itself. */
typedef enum nt_exit_status nt_visit(void *context, struct nt_vfs *vfs, const char *path, uint64_t node);
enum nt_exit_status nt_for_each_path(const struct nt_invocation *invocation, nt_visit *visit, void *context);

/* Print a name: as it is into files and pipes, escaped on a terminal. */
void nt_print_name(const char *name);

/* The status for what stdio could not write; quiet where the reader has gone. Call at the end of
 * a command. */
enum nt_exit_status nt_finish_output(void);

/* A document, or all of a text, which it frees, to standard output; complains about what cannot be made. */
enum nt_exit_status nt_print_buffer(const struct nt_buffer *document, const char *subject);
enum nt_exit_status nt_print_long_text(struct nt_long_text *text, const char *subject);

/* All bytes of a file of the tree to a descriptor; they are added to what `progress` has reached. Complains.
 * NT_EXIT_OK also where the reader of a pipe has had enough. */
enum nt_exit_status nt_copy_content(struct nt_vfs *vfs, uint64_t node, const char *path, int descriptor,
                                    const char *destination, struct nt_progress *progress);

enum { NT_MODE_TEXT = 11 };
/* "-r--r--r--", as ls(1) shows it. */
void nt_format_mode(mode_t mode, char text[NT_MODE_TEXT]);

/* Paths that grow and shrink as directories are entered and left. */
size_t nt_path_enter(struct nt_buffer *path, const char *name); /* returns what to give nt_path_leave */
void nt_path_leave(struct nt_buffer *path, size_t length);

#endif
