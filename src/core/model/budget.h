/* SPDX-License-Identifier: MIT
 *
 * Memory limit for metadata: a budget that grows with the metadata actually read, up to a ceiling derived
 * from available memory.
 */
#ifndef NT_CORE_MODEL_BUDGET_H
#define NT_CORE_MODEL_BUDGET_H

#include <ntuple/error.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Interval set ---- */

struct nt_interval {
    uint64_t first, end;
};

/* All zeros: nothing was seen. */
struct nt_interval_set {
    struct nt_interval *ranges; /* ascending, apart from one another */
    size_t count, capacity;
};

void nt_interval_set_deinit(struct nt_interval_set *covered);

/* Add a range. Returns how many bytes of it were not seen before; 0 also without memory, and where there are thousands of ranges
 * in no order, which would take long to sort in. */
uint64_t nt_interval_set_add(struct nt_interval_set *covered, uint64_t first, uint64_t bytes);

/* ---- Budget ---- */

/* What is counted. A row of the table says what one takes: the model's own memory and what is made of it
 * while it is served (names, orders, spans). */
enum nt_cost {
    NT_COST_ENVELOPE_BYTE, /* uncompressed, while it is in memory; and whatever else is counted in bytes */
    NT_COST_DATASET,
    NT_COST_FIELD,
    NT_COST_COLUMN,
    NT_COST_FIELD_RECORD, /* of a schema, while it is read */
    NT_COST_COLUMN_RECORD,
    NT_COST_PLAIN_GROUP, /* of one field */
    NT_COST_GROUP,       /* what another one has beside */
    NT_COST_CLUSTER,
    NT_COST_RANGE, /* a column in a cluster */
    NT_COST_PAGE,
    NT_COST_STEP,       /* or input of a decoder */
    NT_COST_JSON_VALUE, /* of parsed metadata */
    NT_COST_COUNT
};

struct nt_cost_info {
    const char *name; /* "pages" */
    uint32_t bytes;
};
const struct nt_cost_info *nt_cost_info(enum nt_cost cost);

struct nt_budget {
    _Atomic uint64_t limit;
    bool is_fixed; /* it was given, and does not follow the file */
    uint64_t ceiling;
    _Atomic uint64_t used;
    struct nt_budget *total; /* that what is taken is taken from, too; NULL: there is none */
    pthread_mutex_t lock;    /* of all below */
    bool is_on_disk;         /* all of the file; what it has of metadata is no more than that */
    uint64_t disk_bytes;     /* that are known to take room on a disk of this machine */
    uint64_t metadata_bytes; /* that were read */
    struct nt_interval_set covered;
};

/* `limit`: what was given, or 0: 8 MiB until the file turns out to have metadata, and never more than `ceiling`. */
void nt_budget_init(struct nt_budget *budget, uint64_t limit, uint64_t ceiling);
void nt_budget_deinit(struct nt_budget *budget);

/* The file takes so much room on a disk here, holes not counted; `is_all`: that is all of it. */
void nt_budget_add_disk(struct nt_budget *budget, uint64_t bytes, bool is_all);
/* So many bytes were read as metadata, at a place that is not looked at twice. */
void nt_budget_add_metadata(struct nt_budget *budget, uint64_t bytes);
/* The same, of what was read at a place: nothing where it was counted before. Returns how many count. */
uint64_t nt_budget_add_stored(struct nt_budget *budget, uint64_t place, const uint8_t *bytes, size_t count,
                              bool is_compressed);
/* They turned out to be damaged. */
void nt_budget_withdraw(struct nt_budget *budget, uint64_t metadata_bytes);

/* From now on what is taken, and what was taken, comes out of a common budget, too. NT_LIMIT where that has less. */
enum nt_status nt_budget_join(struct nt_budget *budget, struct nt_budget *total, struct nt_error *error);

/* Count so many more. NT_LIMIT with the limit's name, what is allowed and what was found where they are too
 * many; then nothing is counted. */
enum nt_status nt_budget_take(struct nt_budget *budget, enum nt_cost cost, uint64_t count, uint64_t offset,
                              struct nt_error *error);
/* Give back what was taken. */
void nt_budget_release(struct nt_budget *budget, enum nt_cost cost, uint64_t count);

/* How many bytes were taken, of a common budget by all that share it. */
uint64_t nt_budget_used(const struct nt_budget *budget);
/* Whether what can be read again ought to make room: so many bytes were taken for it. It may have a quarter of the limit, or,
 * where less than half of that is left, a small part, so that what is used at once is not read for each use. */
bool nt_budget_is_tight(const struct nt_budget *budget, uint64_t bytes);

/* ---- Memory ceiling ---- */

/* The memory that the machine or the process's control group has. Looked up by the first call, which has to come before the process
 * loses the right to read /proc and /sys. */
uint64_t nt_memory_available(void);

/* What metadata of one file, or of all files of a chain, may take at most where nobody gave a limit: an eighth of the memory that
 * the machine or the process's control group has, at most 1 GiB; but 160 MiB, if that is no more than five eighths. */
uint64_t nt_metadata_ceiling(void);

/* The same of so much memory. */
uint64_t nt_metadata_ceiling_of(uint64_t memory_bytes);

/* The least limit of a control group and those above it, UINT64_MAX: none. `groups`: what /proc/self/cgroup says; `root`: where
 * groups are mounted ("/sys/fs/cgroup"). */
uint64_t nt_cgroup_memory(const char *groups, const char *root);

#endif
