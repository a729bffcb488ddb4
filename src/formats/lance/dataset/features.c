/* SPDX-License-Identifier: MIT
 *
 * In: a manifest's feature flags for readers. Out: whether the dataset can be read (lance-table's feature_flags.rs).
 * What a writer has to know besides changes nothing for a reader.
 */
#include "formats/lance/dataset/features.h"

#include <inttypes.h>

/* By bit. A flag that is read has in `needs` what reading it takes; one that is not, why. */
static const struct {
    const char *name;
    bool is_read;
    const char *needs;
} features[] = {
    {"deletion files", true, "their rows are left out (deletions.c)"},
    {"stable row ids", true, "nothing: values do not depend on row ids"},
    {"files of version 2", true, "each data file tells its version (fragments.c)"},
    {"table configuration", true, "nothing: the documents show it"},
    {"base paths", true, "files lie where they tell (bases.c)"},
    {"no transaction files", true, "the transaction is in the manifest's file (sections.c)"},
    {"data overlay files", false, "they replace values of data files, and Lance calls them unstable"},
    {"covering columns of indices", true, "nothing: no index is read"},
    {"data files of several versions", true,
     "each data file is read by its own version (fragments.c, load.c)"},
    {"fragment reuse with stable row ids", true, "nothing: it is an index, and no index is read"},
    {"fragment reuse index", true, "nothing: it is an index, and no index is read"},
    {"row lineage in data files", true, "nothing: its hidden columns are no field of the schema"},
    {"fragment tree", false, "the fragments lie elsewhere, and Lance reserves it"},
    {"independent covering columns of indices", false, "Lance reserves it"},
    {"managed blobs", true, "a blob's description tells where its bytes lie"},
    {"field ids that are not used again", false, "Lance defines it for writers alone"},
    {"statistics seeds of zones", false, "Lance reserves it"},
    {"object metadata", false, "Lance defines it for writers alone"},
};
enum { FEATURES = sizeof(features) / sizeof(*features), FLAG_BITS = 64 };

enum nt_status nt_lance_check_features(uint64_t flags, uint64_t offset, struct nt_error *error)
{
    for (unsigned bit = 0; bit < FLAG_BITS; bit++) {
        uint64_t flag = UINT64_C(1) << bit;
        if (!(flags & flag) || (bit < FEATURES && features[bit].is_read))
            continue;
        if (bit < FEATURES)
            return nt_fail(error, NT_UNSUPPORTED, offset,
                           "the reader's feature flag %" PRIu64 " (bit %u, %s) is not read: %s", flag, bit,
                           features[bit].name, features[bit].needs);
        return nt_fail(error, NT_UNSUPPORTED, offset,
                       "the reader's feature flag %" PRIu64 " (bit %u) is not known to this version", flag,
                       bit);
    }
    return NT_OK;
}
