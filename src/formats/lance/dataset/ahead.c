/* SPDX-License-Identifier: MIT
 *
 * In: which data file is read. Out: hints to the sources of those that follow: of each its end, where its metadata is, and of a small one all.
 */
#include "formats/lance/dataset/ahead.h"

enum { FIRST_AHEAD = 4, MOST_AHEAD = 64, END_BYTES = 16 * 1024 };

/* What is read will tell why a file cannot be asked for. */
static void ask(struct nt_source *source)
{
    uint64_t size;
    if (nt_source_size(source, &size, NULL) != NT_OK)
        return;
    const uint64_t bytes = size < END_BYTES ? size : END_BYTES;
    nt_source_will_need(source, &(struct nt_extent){size - bytes, bytes}, 1, false);
}

/* The file of a fragment that stores what the k-th one of the others does. */
static void ask_for_fragment(struct nt_dataset *dataset, const struct nt_lance_dataset *lance,
                             uint32_t fragment, uint32_t k)
{
    const struct nt_lance_fragment_part *part = &lance->fragments[fragment];
    uint32_t number = part->first_file + k;
    if (k < part->file_count && lance->files[number].name && !lance->files[number].opened)
        ask(dataset->sources[number]);
}

void nt_lance_ask_ahead(struct nt_dataset *dataset, uint32_t number)
{
    struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct nt_lance_ahead *ahead = &lance->ahead;
    uint32_t fragment = lance->files[number].fragment, k = number - lance->fragments[fragment].first_file;
    if (!nt_source_takes_hints(dataset->sources[number]))
        return;
    bool follows = fragment == ahead->next && k == ahead->file;
    ahead->count = !follows ? 0 : !ahead->count ? FIRST_AHEAD : ahead->count;
    ahead->file = k;
    ahead->next = fragment + 1;
    if (!follows || ahead->asked < fragment + 1)
        ahead->asked = fragment + 1;
    if (ahead->asked - fragment >
        ahead->count / 2) /* many at once, so that there are always some under way */
        return;
    for (uint32_t i = 0; i < ahead->count && ahead->asked < lance->fragment_count; i++)
        ask_for_fragment(dataset, lance, ahead->asked++, k);
    if (ahead->count < MOST_AHEAD)
        ahead->count *= 2;
}
