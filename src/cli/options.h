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

#include "core/base/arena.h"
#include "core/base/buffer.h"
#include "core/base/error.h"
#include "cli/option.h"

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
