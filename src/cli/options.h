/* SPDX-License-Identifier: MIT
 *
 * Options as tables. A row says how an option is written, what --help says about it and where its value goes;
 * the same rows serve the short form (-f), the long form (--format=rntuple) and lists after -o, as mount(8)
 * and fstab(5) write them (-o format=rntuple,allow_other).
 */
#ifndef NT_CLI_OPTIONS_H
#define NT_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

enum nt_option_kind {
    NT_OPTION_FLAG,  /* bool: set to true */
    NT_OPTION_TEXT,  /* const char *, not empty */
    NT_OPTION_TEXTS, /* const char *const *, ended by NULL; one more each time */
    NT_OPTION_FOLDERS, /* const char *const *: paths of directories, absolute, ended by NULL; one more each time */
    NT_OPTION_NAMED_FILES, /* the same of files, with "NAME:" in front, which may be left out of the option */
    NT_OPTION_FILE,        /* const char *: path of a file that may not be there yet, absolute */
    NT_OPTION_SIZE,        /* uint64_t: bytes, with K, M, G or T */
    NT_OPTION_NUMBER,      /* unsigned, from 1 to `most` */
    NT_OPTION_ID,          /* struct nt_id */
    NT_OPTION_CHOICE,      /* unsigned: index of the word in `choices`; "" is one that cannot be written */
    NT_OPTION_PASS,        /* struct nt_buffer: `passed` is added to a list with commas; NULL adds nothing */
    NT_OPTION_LIST,        /* no member: a list of options by their names */
    NT_OPTION_REFUSED, /* no member; not told to anybody but who gives it: `help` says what to do instead */
    NT_OPTION_IGNORED, /* no member: within a list, any of the names in `choices`, with a value or without;
                        * "x-*" stands for all that begin so */
};

/* Called for each value that there is, with what it means. */
typedef void nt_option_value(void *context, const char *value, const char *help);

/* The number of a user or group. */
struct nt_id {
    bool is_given;
    unsigned number;
};

struct nt_option {
    char letter;      /* '\0': none */
    const char *name; /* without dashes; NULL ends a table */
    enum nt_option_kind kind;
    size_t member;              /* offset of the value in the settings */
    const char *argument;       /* for --help: "SIZE"; NULL where it takes none */
    const char *const *choices; /* ended by NULL */
    const char *passed;
    unsigned most; /* 0: INT_MAX */
    void (*each_value)(nt_option_value *take,
                       void *context);   /* of a text whose values are known; for completion and messages */
    bool (*is_value)(const char *value); /* of a text; NULL: every one is */
    const char *expected;                /* what a value is, where `argument` does not tell it all */
    const char *help;
};

/* Parse the arguments by one or several tables. `settings` is what the members are offsets of; values live in
 * the arena or in `arguments`, whose other words are moved to the end: *first_operand_ret is the first of
 * them. Sees options behind operands too, unless `in_front_only`. NT_INVALID names what is wrong. */
enum nt_status nt_options_parse(const struct nt_option *const *tables, size_t table_count, bool in_front_only,
                                int argument_count, char **arguments, void *settings, struct nt_arena *arena,
                                int *first_operand_ret, struct nt_error *error);

/* The row with a name of so many bytes. Two rows may have one: the one that takes a value is meant where there is one. */
const struct nt_option *nt_option_named(const struct nt_option *const *tables, size_t table_count,
                                        const char *name, size_t length, bool has_value);

/* Append what was given, "name=value, name": what is not 0 in the settings. */
void nt_options_append_given(struct nt_buffer *text, const struct nt_option *table, const void *settings);

/* A line for each row, but for those that are refused. */
void nt_options_help(FILE *stream, const struct nt_option *table);
/* The same where the letters of another table come first. */
void nt_options_help_behind(FILE *stream, const struct nt_option *table, const struct nt_option *before);

#endif
