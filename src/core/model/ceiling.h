/* SPDX-License-Identifier: MIT
 *
 * What the machine has for metadata.
 */
#ifndef NT_MODEL_CEILING_H
#define NT_MODEL_CEILING_H

#include <stdint.h>

/* The memory that the machine or the process's control group has. Looked up by the first call, which has to come before the process
 * loses the right to read /proc and /sys. */
uint64_t nt_memory_here(void);

/* What metadata of one file, or of all files of a chain, may take at most where nobody gave a limit: an eighth of the memory that
 * the machine or the process's control group has, at most 1 GiB; but 160 MiB, if that is no more than five eighths. */
uint64_t nt_metadata_ceiling(void);

/* The same of so much memory. */
uint64_t nt_metadata_ceiling_of(uint64_t memory_bytes);

/* The least limit of a control group and those above it, UINT64_MAX: none. `groups`: what /proc/self/cgroup says; `root`: where
 * groups are mounted ("/sys/fs/cgroup"). */
uint64_t nt_group_memory(const char *groups, const char *root);

#endif
