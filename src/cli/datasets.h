/* SPDX-License-Identifier: MIT
 *
 * For commands that are about data sets and not about files of the tree: those that a path leads to.
 */
#ifndef NT_CLI_DATASETS_H
#define NT_CLI_DATASETS_H

#include "cli/command.h"
#include "vfs/scope.h"

/* Called for a file that holds data sets; `scope` is what of it is meant. `is_of_many`: the path is a folder
 * that is mirrored. Complains itself. */
typedef enum nt_exit_status nt_visit_file(void *context, const struct nt_scope *scope, bool is_of_many);

/* The file that a node is or lies in; of a mirrored folder all files below it. Goes on after failures, which
 * it complains about, and returns the first. */
enum nt_exit_status nt_for_each_file(struct nt_vfs *vfs, const char *path, uint64_t node,
                                     nt_visit_file *visit, void *context);

/* Called for a data set by its index in the scope's file; `field` is the field that the scope is, else
 * NT_NONE. The data set may have failed. Complains itself. */
typedef enum nt_exit_status nt_visit_dataset(void *context, const struct nt_scope *scope, uint32_t index,
                                             uint32_t field);

/* The data set that a scope is or lies in; of a file or directory all that are below it. */
enum nt_exit_status nt_for_each_dataset(const struct nt_scope *scope, nt_visit_dataset *visit, void *context);

/* The end of a document of a file, and all of it to standard output: the member `datasets`, of which `visit` adds the items. */
enum nt_exit_status nt_print_datasets_json(const struct nt_scope *scope, struct nt_json *json,
                                           nt_visit_dataset *visit, void *context);

#endif
