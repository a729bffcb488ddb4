/* SPDX-License-Identifier: MIT
 *
 * Memory limit for metadata: a budget that grows with the metadata actually read, up to a ceiling
 * derived from available memory.
 */
#pragma once

#include <ntuple/error.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* ---- Interval set ---- */

struct nt_interval {
    uint64_t first, end;
};

/* Zero is the empty set. */
struct nt_interval_set {
    struct nt_interval *ranges; /* ascending, disjoint, not adjacent */
    size_t count, capacity;
};

void nt_interval_set_deinit(struct nt_interval_set *covered);

/* Adds a range. Returns how many of its bytes are new; 0 also without memory, and for thousands of
 * unordered ranges, which would take long to insert. */
uint64_t nt_interval_set_add(struct nt_interval_set *covered, uint64_t first, uint64_t bytes);

/* ---- Budget ---- */

/* The items that the budget counts. A table has the cost of each: the model's own memory and derived
 * data for serving (names, orders, spans). */
enum nt_cost {
    NT_COST_ENVELOPE_BYTE, /* uncompressed, in memory; also anything else counted in bytes */
    NT_COST_DATASET,
    NT_COST_FIELD,
    NT_COST_COLUMN,
    NT_COST_FIELD_RECORD, /* of a schema, while parsed */
    NT_COST_COLUMN_RECORD,
    NT_COST_GROUP_BLOCK,
    NT_COST_GROUP_OWNER,    /* a field with groups of its own, and most of the first one in memory */
    NT_COST_GROUP_RECORD,   /* additional cost of one that is not of a single field */
    NT_COST_LOADED_GROUP,   /* of one in memory */
    NT_COST_GROUP_SLOT_MAP, /* of those of a block in memory */
    NT_COST_CLUSTER,
    NT_COST_RANGE, /* of a column in a cluster */
    NT_COST_PAGE,
    NT_COST_STEP,       /* or a dependency of a decoder */
    NT_COST_JSON_VALUE, /* of parsed metadata */
    NT_COST_COUNT
};

struct nt_cost_info {
    const char *name; /* "pages" */
    uint32_t bytes;
};
const struct nt_cost_info *nt_cost_info(enum nt_cost cost);

/* Frees memory that is made again when it is needed. Returns false if there is none. The caller may hold any
 * lock that is held while a budget is charged. */
typedef bool nt_budget_make_room(void *context);

struct nt_budget {
    _Atomic uint64_t limit;
    bool is_fixed; /* set explicitly, does not follow the file */
    uint64_t ceiling;
    _Atomic uint64_t used;
    struct nt_budget *total; /* also counts everything taken here; NULL: none */
    pthread_mutex_t lock;    /* of all members below */
    bool is_on_disk;         /* the whole file, so it cannot contain more metadata */
    bool is_in_folder;       /* in a directory of this machine: see nt_budget_set_in_folder */
    uint64_t disk_bytes;     /* known to be allocated on a local disk */
    uint64_t metadata_bytes; /* read so far */
    uint64_t min_limit;      /* see nt_budget_set_min_limit */
    struct nt_interval_set covered;
    nt_budget_make_room *make_room; /* NULL: there is nothing to free */
    void *context;
};

/* `limit`: given, or 0: 8 MiB until the file proves to have more metadata, at most `ceiling`. */
void nt_budget_init(struct nt_budget *budget, uint64_t limit, uint64_t ceiling);
void nt_budget_deinit(struct nt_budget *budget);

/* Adds the disk space of the file, without holes; `is_all`: of the whole file. */
void nt_budget_add_disk(struct nt_budget *budget, uint64_t bytes, bool is_all);
/* The files are in a directory of this machine: their sizes are unknown, but no copies of what is read of
 * them stay in memory. */
void nt_budget_set_in_folder(struct nt_budget *budget);
/* The limit is at least `bytes`, or the ceiling, for a format whose few bytes describe much. Has no effect
 * on a limit that was set. */
void nt_budget_set_min_limit(struct nt_budget *budget, uint64_t bytes);
/* Counts bytes read as metadata, at a position that is read only once. */
void nt_budget_add_metadata(struct nt_budget *budget, uint64_t bytes);
/* The same at a position: counts each byte once. Returns how many count. */
uint64_t nt_budget_add_stored(struct nt_budget *budget, uint64_t position, const uint8_t *bytes, size_t count,
                              bool is_compressed);
/* Uncounts damaged metadata. */
void nt_budget_withdraw(struct nt_budget *budget, uint64_t metadata_bytes);

/* Calls `make_room` before a charge is refused. For all members of a common budget, too. Set it before
 * threads use the budget. */
void nt_budget_set_make_room(struct nt_budget *budget, nt_budget_make_room *make_room, void *context);

/* Counts everything in a common budget, too, past and future. NT_LIMIT if it is too small. */
enum nt_status nt_budget_join(struct nt_budget *budget, struct nt_budget *total, struct nt_error *error);

/* Takes `count` items. NT_LIMIT with the name, the limit and the number if there are too many; then
 * nothing is taken. */
enum nt_status nt_budget_take(struct nt_budget *budget, enum nt_cost cost, uint64_t count, uint64_t offset,
                              struct nt_error *error);
void nt_budget_release(struct nt_budget *budget, enum nt_cost cost, uint64_t count);

/* The bytes taken; with a common budget, by all that share it. */
uint64_t nt_budget_used(const struct nt_budget *budget);
/* Is half of the limit taken, or of the common budget's? */
bool nt_budget_is_half_used(const struct nt_budget *budget);
/* Should reloadable data of `bytes` make room? It may have a quarter of the limit or, if less than half
 * of that is left, a small part, so that data in use is not reloaded for each use. */
bool nt_budget_is_tight(const struct nt_budget *budget, uint64_t bytes);

/* ---- Memory ceiling ---- */

/* The memory of the machine or of the process's control group. The first call must come before the
 * process loses access to /proc and /sys. */
uint64_t nt_memory_available(void);

/* The default ceiling for metadata of one file or of all files of a chain: an eighth of the memory of
 * the machine or control group, at most 1 GiB; but 160 MiB if that is at most five eighths. */
uint64_t nt_metadata_ceiling(void);

/* The same for a given amount of memory. */
uint64_t nt_metadata_ceiling_of(uint64_t memory_bytes);

/* The smallest limit of a control group and its ancestors, UINT64_MAX: none. `groups`: the contents of
 * /proc/self/cgroup; `root`: the mount point of groups ("/sys/fs/cgroup"). */
uint64_t nt_cgroup_memory(const char *groups, const char *root);
