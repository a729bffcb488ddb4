/* SPDX-License-Identifier: MIT
 *
 * In: a choice and a data set. Out: the data set with chosen entries, or which element of the file does not fit it.
 */
#include <inttypes.h>

#include "core/base/error.h"
#include "core/base/overflow.h"
#include "read/numbers.h"

static enum nt_status apply_range(const struct nt_choice *choice, struct nt_dataset *dataset,
                                  struct nt_error *error)
{
    struct nt_entry_range range = choice->ranges[0];
    uint64_t entries = nt_dataset_stored_entries(dataset);
    if (range.first > entries)
        range.first = entries;
    if (range.count > entries - range.first)
        range.count = entries - range.first;
    return nt_dataset_select(dataset, &range, 1, error);
}

/* Which element of the file is the first that the data set does not have. */
static enum nt_status check_numbers(const struct nt_choice *choice, uint64_t entries, struct nt_error *error)
{
    uint64_t element = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const struct nt_entry_range *range = &choice->ranges[i];
        if (!nt_fits(range->first, range->count, entries)) {
            uint64_t good = range->first < entries ? entries - range->first : 0;
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                           "%s: element %" PRIu64 ": entry %" PRIu64 ", and the data set has %" PRIu64,
                           choice->path, element + good, range->first + good, entries);
        }
        element += range->count;
    }
    return NT_OK;
}

enum nt_status nt_choice_apply(const struct nt_choice *choice, struct nt_dataset *dataset,
                               struct nt_error *error)
{
    uint64_t entries = nt_dataset_stored_entries(dataset);
    const struct nt_error *failure = nt_dataset_failure(dataset);
    if (failure)
        return nt_fail_with(error, failure);
    if (!choice->path)
        return apply_range(choice, dataset, error);
    if (choice->is_mask && choice->elements != entries)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "%s: %" PRIu64 " bools, and the data set has %" PRIu64 " entries", choice->path,
                       choice->elements, entries);
    enum nt_status status = check_numbers(choice, entries, error);
    return status == NT_OK ? nt_dataset_select(dataset, choice->ranges, choice->count, error) : status;
}
