/* SPDX-License-Identifier: MIT
 *
 * The classes of objects that only the baskets name: those of pointers, and in TClonesArrays that are not
 * split.
 */
#include "formats/ttree/ttree.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/budget.h"

enum { MAX_BASKETS = 4, MAX_BYTES = 16 << 20 }; /* opening a tree costs little: large ones are not read */
/* Few baskets decompress to more than so many times what they store: those of a file up to a sum only. */
enum { PER_STORED_BYTE = 16, MAX_OTHER_BYTES = 64 << 20 };

struct class_sample {
    struct nt_dataset *dataset;
    const struct nt_ttree_branch *branch;
    const struct nt_interpretation *interpretation;
    struct nt_codec_context *context;
    struct nt_buffer record;
    uint64_t limit;
};

/* Decodes the first elements of an output of the basket into memory from malloc. */
static enum nt_status decode(const struct class_sample *sampling, uint32_t output, uint64_t elements,
                             void **elements_ret, struct nt_error *error)
{
    struct nt_decoder decoder;
    void *state;
    NT_TRY(nt_basket_decoder(sampling->interpretation, output, &decoder, &state, error));
    const struct nt_packed packed = {.decoder = &decoder,
                                     .data = (const uint8_t *)sampling->record.bytes,
                                     .bytes = sampling->record.length,
                                     .elements = elements,
                                     .context = sampling->context,
                                     .limit = sampling->limit};
    *elements_ret = calloc((size_t)elements + 1, decoder.element_bytes);
    enum nt_status status =
        *elements_ret ? decoder.ops->decode(&packed, *elements_ret, error) : nt_fail_memory(error);
    free(state);
    return status;
}

static bool is_among(const struct nt_text *names, uint32_t count, struct nt_text name)
{
    for (uint32_t i = 0; i < count; i++)
        if (nt_texts_are_equal(names[i], name))
            return true;
    return false;
}

/* The first name, or each different one, as lines. */
static enum nt_status join_names(const struct class_sample *sampling, const uint64_t *ends, const char *bytes,
                                 uint64_t count, struct nt_text *names_ret, struct nt_error *error)
{
    uint32_t limit = sampling->interpretation->samples_several ? NT_SAMPLE_LIMIT : 1, found = 0;
    struct nt_text names[NT_SAMPLE_LIMIT];
    struct nt_buffer lines = {0};
    for (uint64_t i = 0, begin = 0; i < count && found < limit; begin = ends[i++]) {
        const struct nt_text name = {bytes + begin, (size_t)(ends[i] - begin)};
        if (!name.length || is_among(names, found, name))
            continue;
        nt_buffer_append_format(&lines, "%s%.*s", found ? "\n" : "", (int)name.length, name.bytes);
        names[found++] = name;
    }
    bool is_copied = !lines.failed && nt_text_copy(sampling->dataset->arena,
                                                   (struct nt_text){lines.bytes, lines.length}, names_ret);
    nt_buffer_deinit(&lines);
    return is_copied ? NT_OK : nt_fail_memory(error);
}

/* Names in the basket. They are not longer than the basket, as their bytes were counted there. */
static enum nt_status get_names(const struct class_sample *sampling, uint64_t count,
                                struct nt_text *names_ret, struct nt_error *error)
{
    uint32_t output = sampling->interpretation->sample - 1;
    uint64_t *ends = NULL;
    void *bytes = NULL;
    enum nt_status status = decode(sampling, output, count, (void **)&ends, error);
    if (status == NT_OK)
        status = decode(sampling, output + 1, ends[count - 1], &bytes, error);
    if (status == NT_OK)
        status = join_names(sampling, ends, bytes, count, names_ret, error);
    free(ends);
    free(bytes);
    return status;
}

/* Counts what the basket decompresses to. False if the file's baskets have done so to too much. */
static bool may_decompress(const struct class_sample *sampling)
{
    struct nt_basket basket;
    uint64_t *other_bytes = nt_ttree_sampled_bytes(sampling->dataset->file);
    if (nt_basket_parse((const uint8_t *)sampling->record.bytes, sampling->record.length, &basket, NULL) !=
        NT_OK)
        return true; /* and fail */
    uint64_t usual = (uint64_t)PER_STORED_BYTE * sampling->record.length;
    if (basket.object_bytes > usual)
        *other_bytes += basket.object_bytes - usual;
    return *other_bytes <= MAX_OTHER_BYTES;
}

static enum nt_status search_basket(struct class_sample *sampling, const struct nt_basket_location *basket,
                                    struct nt_text *name_ret, struct nt_error *error)
{
    uint32_t source = basket->is_embedded ? sampling->branch->object_source : sampling->branch->file_source;
    uint64_t entries = basket->end_entry - basket->first_entry;
    sampling->limit = nt_file_page_limit(sampling->dataset->file, basket->bytes);
    if (sampling->limit > MAX_BYTES)
        sampling->limit = MAX_BYTES;
    nt_buffer_clear(&sampling->record);
    if (basket->bytes > sampling->limit || entries > INT32_MAX)
        return NT_OK;
    NT_TRY(nt_source_append(sampling->dataset->sources[source], basket->offset, basket->bytes,
                            &sampling->record, error));
    if (!may_decompress(sampling))
        return NT_OK;
    struct nt_output_count *counts = calloc(sampling->interpretation->output_count, sizeof(*counts));
    if (!counts)
        return nt_fail_memory(error);
    enum nt_status status = nt_basket_count(sampling->interpretation, (const uint8_t *)sampling->record.bytes,
                                            sampling->record.length, (uint32_t)entries, sampling->limit,
                                            sampling->context, counts, error);
    uint64_t count = status == NT_OK ? counts[sampling->interpretation->sample - 1].elements : 0;
    free(counts);
    return count ? get_names(sampling, count, name_ret, error) : status;
}

/* Leaves the name empty if it is not in the first baskets. What fails here fails again where it is read,
 * unless it is the machine that failed. */
static enum nt_status search(struct class_sample *sampling, struct nt_text *name_ret, struct nt_error *error)
{
    struct nt_basket_location *baskets = NULL;
    struct nt_error failure = {0};
    uint32_t count = 0;
    enum nt_status status = nt_ttree_list_baskets(
        sampling->branch, sampling->dataset->sources[sampling->branch->file_source]->size, &baskets, &count,
        &failure);
    sampling->context = nt_codec_context_new();
    if (!sampling->context)
        status = nt_fail_memory(&failure);
    for (uint32_t i = 0; status == NT_OK && i < count && i < MAX_BASKETS && !name_ret->length; i++)
        status = search_basket(sampling, &baskets[i], name_ret, &failure);
    nt_codec_context_free(sampling->context);
    nt_buffer_deinit(&sampling->record);
    free(baskets);
    return nt_is_environmental(status) ? nt_fail_copy(error, &failure) : NT_OK;
}

enum nt_status nt_ttree_interpret_with_samples(struct nt_dataset *dataset, struct nt_ttree *tree,
                                               uint32_t branch, struct nt_interpretation *interpretation_ret,
                                               struct nt_error *error)
{
    struct nt_ttree_branch *row = &tree->branches[branch];
    struct nt_text *names = NULL;
    NT_TRY(nt_ttree_interpret(tree, branch, dataset->arena, interpretation_ret, error));
    while (interpretation_ret->sample) {
        struct class_sample sampling = {
            .dataset = dataset, .branch = row, .interpretation = interpretation_ret};
        if (!names)
            row->samples = names = nt_arena_alloc(dataset->arena, NT_SAMPLE_LIMIT, sizeof(*names));
        if (!names)
            return nt_fail_memory(error);
        if (!row->refusal)
            NT_TRY(search(&sampling, &names[row->sample_count], error));
        row->sample_count++;
        NT_TRY(nt_ttree_interpret(tree, branch, dataset->arena, interpretation_ret, error));
    }
    return NT_OK;
}
