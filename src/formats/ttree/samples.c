/* SPDX-License-Identifier: MIT
 *
 * What only the baskets say: the classes of objects of pointers, of TBranchObjects, and in TClonesArrays that
 * are not split; and whether items are an enumeration.
 */
#include "formats/ttree/ttree.h"

enum { MAX_BASKETS = 4, MAX_BYTES = 16 << 20 }; /* opening a tree costs little: large ones are not read */
/* Few baskets decompress to more than so many times what they store: those of a file up to a sum only. */
enum { PER_STORED_BYTE = 16, MAX_OTHER_BYTES = 64 << 20 };
/* Each further look at a basket, and each field when its branch is interpreted again, takes of that sum. */
enum { LOOKS_PER_SUM = 4, BYTES_OF_FIELD = 100 };
enum { MAX_NAME = 4096 }; /* classes have shorter names */

struct class_sample {
    struct nt_dataset *dataset;
    const struct nt_ttree_branch *branch;
    struct nt_interpretation *interpretation;
    struct nt_codec_context *context;
    struct nt_basket_location *baskets;
    uint32_t basket_count;
    struct nt_buffer records[MAX_BASKETS]; /* not compressed, of those that were looked at */
    const struct nt_buffer *record;        /* that is looked at */
    uint64_t limit;
};

static enum nt_status decode(const struct class_sample *sample, uint32_t output, uint64_t elements,
                             void **elements_ret, struct nt_error *error)
{
    return nt_basket_decode(sample->interpretation, output, (const uint8_t *)sample->record->bytes,
                            sample->record->length, elements, sample->limit, sample->context, elements_ret,
                            error);
}

static bool is_among(const struct nt_text *names, uint32_t count, struct nt_text name)
{
    for (uint32_t i = 0; i < count; i++)
        if (nt_texts_are_equal(names[i], name))
            return true;
    return false;
}

/* The first name, or each different one, as lines. */
static enum nt_status join_names(const struct class_sample *sample, const uint64_t *ends, const char *bytes,
                                 uint64_t count, struct nt_text *names_ret, struct nt_error *error)
{
    uint32_t limit = sample->interpretation->samples_several ? NT_SAMPLE_LIMIT : 1, found = 0;
    struct nt_text names[NT_SAMPLE_LIMIT];
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer lines = {0};
    for (uint64_t i = 0, begin = 0; i < count && found < limit; begin = ends[i++]) {
        const struct nt_text name = {bytes + begin, (size_t)(ends[i] - begin)};
        if (!name.length || name.length > MAX_NAME || is_among(names, found, name))
            continue;
        nt_buffer_append_format(&lines, "%s%.*s", found ? "\n" : "", (int)name.length, name.bytes);
        names[found++] = name;
    }
    const struct nt_text text = {lines.bytes, lines.length};
    return nt_check_memory(!lines.failed && nt_text_copy(sample->dataset->arena, text, names_ret), error);
}

/* Names in the basket. They are not longer than the basket, as their bytes were counted there. Numbers of an
 * enumeration have no names: that the basket can be decoded says that they are numbers. */
static enum nt_status get_names(const struct class_sample *sample, uint64_t count, struct nt_text *names_ret,
                                struct nt_error *error)
{
    uint32_t output = sample->interpretation->sample - 1;
    NT_AUTO_FREE void *ends = NULL;
    NT_AUTO_FREE void *bytes = NULL;
    NT_TRY(decode(sample, output, count, &ends, error));
    if (!sample->interpretation->outputs[output].is_offsets) {
        *names_ret = NT_TEXT("int");
        return NT_OK;
    }
    NT_TRY(decode(sample, output + 1, ((const uint64_t *)ends)[count - 1], &bytes, error));
    return join_names(sample, ends, bytes, count, names_ret, error);
}

/* Counts what the basket decompresses to. False if the file's baskets have done so to too much. */
static bool may_decompress(const struct class_sample *sample, const struct nt_buffer *record)
{
    struct nt_basket basket;
    uint64_t *other_bytes = nt_ttree_sampled_bytes(sample->dataset->file);
    if (nt_basket_parse((const uint8_t *)record->bytes, record->length, &basket, NULL) != NT_OK)
        return true; /* and fail */
    uint64_t usual = (uint64_t)PER_STORED_BYTE * record->length;
    if (basket.object_bytes > usual)
        *other_bytes += basket.object_bytes - usual;
    return *other_bytes <= MAX_OTHER_BYTES;
}

/* Leaves the record empty if it is too large. */
static enum nt_status read_basket(const struct class_sample *sample, const struct nt_basket_location *basket,
                                  struct nt_buffer *record, struct nt_error *error)
{
    uint32_t source = basket->is_embedded ? sample->branch->object_source : sample->branch->file_source;
    if (basket->bytes > sample->limit)
        return NT_OK;
    NT_TRY(nt_source_append(sample->dataset->sources[source], basket->offset, basket->bytes, record, error));
    if (may_decompress(sample, record))
        return nt_basket_unpack(record, sample->limit, sample->context, error);
    nt_buffer_deinit(record);
    return NT_OK;
}

/* False if the file's baskets were looked at too often. */
static bool may_look_again(const struct class_sample *sample)
{
    uint64_t *other_bytes = nt_ttree_sampled_bytes(sample->dataset->file);
    *other_bytes += sample->record->length / LOOKS_PER_SUM;
    return *other_bytes <= MAX_OTHER_BYTES;
}

static enum nt_status search_basket(struct class_sample *sample, uint32_t number, struct nt_text *name_ret,
                                    struct nt_error *error)
{
    const struct nt_basket_location *basket = &sample->baskets[number];
    uint64_t entries = basket->end_entry - basket->first_entry;
    sample->record = &sample->records[number];
    sample->limit = nt_min(nt_file_page_limit(sample->dataset->file, basket->bytes), MAX_BYTES);
    if (entries > INT32_MAX || (sample->record->length && !may_look_again(sample)))
        return NT_OK;
    if (!sample->record->length)
        NT_TRY(read_basket(sample, basket, &sample->records[number], error));
    if (!sample->record->length)
        return NT_OK;
    NT_AUTO_FREE struct nt_output_count *counts =
        calloc(sample->interpretation->output_count, sizeof(*counts));
    NT_TRY(nt_check_memory(counts, error));
    NT_TRY(nt_basket_count(sample->interpretation, (const uint8_t *)sample->record->bytes,
                           sample->record->length, (uint32_t)entries, NULL, sample->limit, sample->context,
                           counts, error));
    uint64_t count = counts[sample->interpretation->sample - 1].elements;
    return count ? get_names(sample, count, name_ret, error) : NT_OK;
}

/* Other members need not be read, nor can all of them be. */
static void omit_other_outputs(struct nt_interpretation *interpretation)
{
    for (uint32_t i = 0; i < interpretation->step_count; i++)
        if (interpretation->steps[i].output != interpretation->sample - 1)
            interpretation->steps[i].output = NT_NONE;
}

static enum nt_status prepare(struct class_sample *sample, struct nt_error *error)
{
    if (sample->context)
        return NT_OK;
    sample->context = nt_codec_context_new();
    NT_TRY(nt_check_memory(sample->context, error));
    return nt_ttree_list_baskets(sample->branch, sample->dataset->sources[sample->branch->file_source]->size,
                                 &sample->baskets, &sample->basket_count, error);
}

/* Leaves the name empty if it is not in the first baskets. What fails here fails again where it is read,
 * unless it is the machine that failed. */
static enum nt_status search(struct class_sample *sample, struct nt_text *name_ret, struct nt_error *error)
{
    struct nt_error failure = {0};
    enum nt_status status = prepare(sample, &failure);
    omit_other_outputs(sample->interpretation);
    for (uint32_t i = 0; status == NT_OK && i < sample->basket_count && i < MAX_BASKETS && !name_ret->length;
         i++)
        status = search_basket(sample, i, name_ret, &failure);
    return nt_is_environmental(status) ? nt_fail_copy(error, &failure) : NT_OK;
}

static void class_sample_deinit(struct class_sample *sample)
{
    nt_codec_context_free(sample->context);
    for (uint32_t i = 0; i < MAX_BASKETS; i++)
        nt_buffer_deinit(&sample->records[i]);
    free(sample->baskets);
}

/* False if the branches of the file, which have so many fields, were interpreted too often. */
static bool may_interpret_again(const struct class_sample *sample)
{
    uint64_t *other_bytes = nt_ttree_sampled_bytes(sample->dataset->file);
    *other_bytes += (uint64_t)sample->interpretation->shape_count * BYTES_OF_FIELD;
    return *other_bytes <= MAX_OTHER_BYTES;
}

/* Finds the names one after the other: each can change what there is to look for. Interpretations before the
 * last one are in memory of their own, but the first, which is often the last. */
static enum nt_status find_names(struct class_sample *sample, const struct nt_ttree *tree,
                                 struct nt_ttree_branch *row, struct nt_error *error)
{
    struct nt_text *names = nt_arena_alloc(sample->dataset->arena, NT_SAMPLE_LIMIT, sizeof(*names));
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = NULL;
    NT_TRY(nt_check_memory(names, error));
    row->samples = names;
    while (sample->interpretation->sample) {
        bool goes_on = may_interpret_again(sample);
        if (goes_on && !row->refusal)
            NT_TRY(search(sample, &names[row->sample_count], error));
        row->sample_count = goes_on ? row->sample_count + 1 : NT_SAMPLE_LIMIT;
        nt_arena_free(arena);
        arena = nt_arena_new();
        NT_TRY(nt_check_memory(arena, error));
        NT_TRY(
            nt_ttree_interpret(tree, (uint32_t)(row - tree->branches), arena, sample->interpretation, error));
    }
    return NT_OK;
}

enum nt_status nt_ttree_interpret_with_samples(struct nt_dataset *dataset, struct nt_ttree *tree,
                                               uint32_t branch, struct nt_interpretation *interpretation_ret,
                                               struct nt_error *error)
{
    struct nt_ttree_branch *row = &tree->branches[branch];
    NT_CLEANUP(class_sample_deinit)
    struct class_sample sample = {.dataset = dataset, .branch = row, .interpretation = interpretation_ret};
    NT_TRY(nt_ttree_interpret(tree, branch, dataset->arena, interpretation_ret, error));
    if (!interpretation_ret->sample)
        return NT_OK;
    NT_TRY(find_names(&sample, tree, row, error));
    return nt_ttree_interpret(tree, branch, dataset->arena, interpretation_ret, error);
}
