/* SPDX-License-Identifier: MIT
 *
 * Schemas of RNTuples, in headers and in footers.
 */
#include "rntuple_parts.h"

/* ---- schema ---- */

static void field_values(struct rntuple_writer *writer, const struct rntuple_field *field)
{
    if (field->flags & 1)
        rntuple_u64(writer, field->array_size);
    if (field->flags & 2)
        rntuple_u32(writer, field->source);
    if (field->flags & 4)
        rntuple_u32(writer, field->type_checksum);
}

static void write_field(struct rntuple_writer *writer, const struct rntuple_field *field, uint32_t id)
{
    rntuple_record(writer);
    rntuple_u32(writer, field->field_version);
    rntuple_u32(writer, field->type_version);
    rntuple_u32(writer, field->parent == RNTUPLE_TOP ? id : field->parent);
    rntuple_u16(writer, field->role);
    rntuple_u16(writer, field->flags);
    if (!rntuple_is_final(writer->generation))
        field_values(writer, field);
    rntuple_text(writer, field->name);
    rntuple_text(writer, field->type);
    rntuple_text(writer, field->alias);
    rntuple_text(writer, field->description);
    if (rntuple_is_final(writer->generation))
        field_values(writer, field);
    rntuple_end_frame(writer);
}

static void write_column(struct rntuple_writer *writer, const struct rntuple_column *column)
{
    bool is_late = rntuple_is_final(writer->generation);
    uint32_t flags =
        column->flags | (column->has_first_element ? (is_late ? 1 : 8) : 0) | (column->has_range ? 2 : 0);
    rntuple_record(writer);
    rntuple_u16(writer, column->type);
    rntuple_u16(writer, column->bits);
    rntuple_u32(writer, column->field);
    if (is_late) {
        rntuple_u16(writer, (uint16_t)flags);
        rntuple_u16(writer, column->representation);
    } else {
        rntuple_u32(writer, flags);
    }
    if (column->has_first_element)
        rntuple_u64(writer, (uint64_t)column->first_element);
    if (column->has_range) {
        rntuple_real(writer, column->minimum);
        rntuple_real(writer, column->maximum);
    }
    rntuple_end_frame(writer);
}

static void write_extra_type(struct rntuple_writer *writer, const char *type)
{
    rntuple_record(writer);
    if (rntuple_is_final(writer->generation)) {
        rntuple_u32(writer, 0); /* content identifier */
        rntuple_u32(writer, 7); /* type version */
        rntuple_text(writer, type);
        rntuple_text(writer, "content");
    } else {
        rntuple_u32(writer, 3); /* type version from, to */
        rntuple_u32(writer, 4);
        rntuple_u32(writer, 1);
        rntuple_text(writer, type);
    }
    rntuple_end_frame(writer);
}

/* The four lists, of the fields [first, end) and so on. */
void rntuple_write_schema(struct rntuple_writer *writer, const struct rntuple_description *description,
                          const struct rntuple_schema_part *part)
{
    rntuple_list(writer, part->fields[1] - part->fields[0]);
    for (uint32_t i = part->fields[0]; i < part->fields[1]; i++)
        write_field(writer, &description->fields[i], i);
    rntuple_end_frame(writer);
    rntuple_list(writer, part->columns[1] - part->columns[0]);
    for (uint32_t i = part->columns[0]; i < part->columns[1]; i++)
        write_column(writer, &description->columns[i]);
    rntuple_end_frame(writer);
    rntuple_list(writer, part->aliases[1] - part->aliases[0]);
    for (uint32_t i = part->aliases[0]; i < part->aliases[1]; i++) {
        rntuple_record(writer);
        rntuple_u32(writer, description->aliases[i].column);
        rntuple_u32(writer, description->aliases[i].field);
        rntuple_end_frame(writer);
    }
    rntuple_end_frame(writer);
    rntuple_list(writer, part->extra_type ? 1 : 0);
    if (part->extra_type)
        write_extra_type(writer, part->extra_type);
    rntuple_end_frame(writer);
}

struct rntuple_schema_part rntuple_header_part(const struct rntuple_description *d)
{
    return (struct rntuple_schema_part){
        .fields = {0, d->field_count - d->extension_fields},
        .columns = {0, d->column_count - d->extension_columns},
        .aliases = {0, d->alias_count - d->extension_aliases},
    };
}

struct rntuple_schema_part rntuple_extension_part(const struct rntuple_description *d)
{
    struct rntuple_schema_part header = rntuple_header_part(d);
    return (struct rntuple_schema_part){
        .fields = {header.fields[1], d->field_count},
        .columns = {header.columns[1], d->column_count},
        .aliases = {header.aliases[1], d->alias_count},
        .extra_type = d->extra_type,
    };
}
