/* SPDX-License-Identifier: MIT
 *
 * Public accessors of files and datasets, and the NumPy and Arrow types of elements.
 */
#include "core/model/model.h"

/* ---- Element types ---- */

static const char *const arrow_formats[NT_ELEMENT_COUNT] = {
    [NT_ELEMENT_BOOL] = "b",   [NT_ELEMENT_BYTE] = "C",   [NT_ELEMENT_INT8] = "c",
    [NT_ELEMENT_UINT8] = "C",  [NT_ELEMENT_INT16] = "s",  [NT_ELEMENT_UINT16] = "S",
    [NT_ELEMENT_INT32] = "i",  [NT_ELEMENT_UINT32] = "I", [NT_ELEMENT_INT64] = "l",
    [NT_ELEMENT_UINT64] = "L", [NT_ELEMENT_REAL16] = "e", [NT_ELEMENT_REAL32] = "f",
    [NT_ELEMENT_REAL64] = "g",
};

/* A Switch is a structure. */
static const struct nt_dtype index_dtype = {
    .element = NT_ELEMENT_UINT64, .bytes = 8, .number = NT_ELEMENT_UINT64, .numpy = "<u8", .arrow = "L"};
static const struct nt_dtype tag_dtype = {
    .element = NT_ELEMENT_UINT32, .bytes = 4, .number = NT_ELEMENT_UINT32, .numpy = "<u4", .arrow = "I"};
static const struct nt_dtype_member switch_members[] = {
    {.name = {"index", 5}, .dtype = &index_dtype},
    {.name = {"tag", 3}, .dtype = &tag_dtype},
};

struct nt_dtype nt_element_dtype(enum nt_element element)
{
    const struct nt_element_row *info = nt_element_info(element);
    bool is_switch = element == NT_ELEMENT_SWITCH;
    return (struct nt_dtype){
        .element = element,
        .bytes = info->bytes,
        .number = is_switch ? NT_ELEMENT_OPAQUE : element,
        .numpy = info->dtype,
        .arrow = arrow_formats[element],
        .members = is_switch ? switch_members : NULL,
        .member_count = is_switch ? sizeof(switch_members) / sizeof(*switch_members) : 0,
    };
}

/* ---- Files ---- */

const char *nt_file_path(const struct nt_file *file)
{
    return file->path;
}

uint32_t nt_file_dataset_count(const struct nt_file *file)
{
    return file->dataset_count;
}

struct nt_dataset *nt_file_dataset(const struct nt_file *file, uint32_t index)
{
    return index < file->dataset_count ? file->datasets[index] : NULL;
}

/* ---- Datasets ---- */

/* Hides what was read of a dataset before it failed. */
static struct nt_text text_of(const struct nt_dataset *dataset, struct nt_text text)
{
    return dataset->failure || !text.bytes ? (struct nt_text){"", 0} : text;
}

static const char *string_of(const struct nt_dataset *dataset, const char *string)
{
    return dataset->failure || !string ? "" : string;
}

const struct nt_error *nt_dataset_failure(const struct nt_dataset *dataset)
{
    return dataset->failure;
}

struct nt_text nt_dataset_name(const struct nt_dataset *dataset)
{
    return dataset->name;
}

struct nt_text nt_dataset_title(const struct nt_dataset *dataset)
{
    return text_of(dataset, dataset->title);
}

struct nt_text nt_dataset_description(const struct nt_dataset *dataset)
{
    return text_of(dataset, dataset->description);
}

struct nt_text nt_dataset_writer(const struct nt_dataset *dataset)
{
    return text_of(dataset, dataset->writer);
}

const char *nt_dataset_format(const struct nt_dataset *dataset)
{
    return string_of(dataset, dataset->format);
}

const char *nt_dataset_version(const struct nt_dataset *dataset)
{
    return string_of(dataset, dataset->version);
}

const char *nt_dataset_generation(const struct nt_dataset *dataset)
{
    return string_of(dataset, dataset->generation);
}

uint32_t nt_dataset_cycle(const struct nt_dataset *dataset)
{
    return dataset->cycle;
}

struct nt_dataset *nt_dataset_attribute_of(const struct nt_dataset *dataset)
{
    return nt_file_dataset(dataset->file, dataset->attribute_of); /* NT_NONE is past the end: NULL */
}

uint64_t nt_dataset_entries(const struct nt_dataset *dataset)
{
    if (dataset->failure)
        return 0;
    return dataset->selection ? dataset->selection->entries : dataset->entries;
}

uint64_t nt_dataset_stored_entries(const struct nt_dataset *dataset)
{
    return dataset->failure ? 0 : dataset->entries;
}

bool nt_dataset_has_selection(const struct nt_dataset *dataset)
{
    return dataset->selection;
}

/* ---- Fields and columns ---- */

uint32_t nt_dataset_field_count(const struct nt_dataset *dataset)
{
    return dataset->failure ? 0 : dataset->field_count;
}

const struct nt_field *nt_dataset_field(const struct nt_dataset *dataset, uint32_t index)
{
    return index < nt_dataset_field_count(dataset) ? &dataset->fields[index] : NULL;
}

uint32_t nt_dataset_column_count(const struct nt_dataset *dataset)
{
    return dataset->failure ? 0 : dataset->column_count;
}

const struct nt_column *nt_dataset_column(const struct nt_dataset *dataset, uint32_t index)
{
    return index < nt_dataset_column_count(dataset) ? &dataset->columns[index] : NULL;
}

uint32_t nt_page_elements(const struct nt_page *page)
{
    return page->elements;
}

uint64_t nt_page_offset(const struct nt_page *page)
{
    return page->offset;
}

uint64_t nt_page_stored_bytes(const struct nt_page *page)
{
    return page->stored_bytes;
}
