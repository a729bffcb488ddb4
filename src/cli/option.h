/* SPDX-License-Identifier: MIT
 *
 * A row of a table of options: how one is written, what its value is, and what --help says about it.
 */
#ifndef NT_CLI_OPTION_H
#define NT_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
