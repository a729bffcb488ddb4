/* SPDX-License-Identifier: MIT
 *
 * The open data files of a dataset. Each has memory of its own, which is freed when the file was not
 * used for long, and read again on demand.
 */
#include "formats/lance/dataset/dataset.h"

#include "core/base/queue.h"

struct nt_lance_open_file *nt_lance_open_file_new(struct nt_file *file, uint32_t number)
{
    struct nt_arena *arena = nt_arena_new();
    struct nt_lance_open_file *open = arena ? nt_arena_alloc(arena, 1, sizeof(*open)) : NULL;
    if (!open) {
        nt_arena_free(arena);
        return NULL;
    }
    *open = (struct nt_lance_open_file){.memory = {.file = file, .arena = arena}, .number = number};
    return open;
}

void nt_lance_open_file_free(struct nt_lance_open_file *open)
{
    nt_budget_release(&open->memory.file->budget, NT_COST_ENVELOPE_BYTE, open->memory.taken);
    nt_arena_free(open->memory.arena);
}

static void close_file(struct nt_lance_dataset *lance, struct nt_lance_open_file *open)
{
    TAILQ_REMOVE(&lance->open.by_use, open, by_use);
    lance->files[open->number].opened = NULL;
    lance->open.bytes -= open->memory.taken;
    nt_lance_open_file_free(open);
}

enum nt_status nt_lance_open_files_add(struct nt_lance_dataset *lance, struct nt_lance_open_file *open,
                                       struct nt_error *error)
{
    const struct nt_budget *budget = &open->memory.file->budget;
    NT_TRY(nt_lance_take(&open->memory, NT_COST_ENVELOPE_BYTE, nt_arena_bytes(open->memory.arena),
                         NT_NO_OFFSET, error));
    lance->files[open->number].opened = open;
    if (open->lance.legacy) {
        /* most of its memory is in the nt_file's arena */
        return NT_OK;
    }
    TAILQ_INSERT_HEAD(&lance->open.by_use, open, by_use);
    lance->open.bytes += open->memory.taken;
    for (struct nt_lance_open_file *oldest;
         (oldest = NT_TAILQ_LAST(&lance->open.by_use, nt_lance_open_file, by_use)) != open &&
         nt_budget_is_tight(budget, lance->open.bytes);)
        close_file(lance, oldest);
    return NT_OK;
}

void nt_lance_open_files_use(struct nt_lance_dataset *lance, struct nt_lance_open_file *open)
{
    if (open->lance.legacy)
        return;
    TAILQ_REMOVE(&lance->open.by_use, open, by_use);
    TAILQ_INSERT_HEAD(&lance->open.by_use, open, by_use);
}

uint64_t nt_lance_open_files_release(struct nt_lance_dataset *lance)
{
    uint64_t before = lance->open.bytes;
    struct nt_lance_open_file *oldest;
    while (lance->open.bytes && (oldest = NT_TAILQ_LAST(&lance->open.by_use, nt_lance_open_file, by_use)) !=
                                    TAILQ_FIRST(&lance->open.by_use))
        close_file(lance, oldest);
    return before - lance->open.bytes;
}

void nt_lance_open_files_close(struct nt_lance_dataset *lance)
{
    for (uint32_t i = 0; i < lance->file_count; i++)
        if (lance->files[i].opened)
            nt_lance_open_file_free(lance->files[i].opened);
}
