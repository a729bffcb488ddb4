/* SPDX-License-Identifier: MIT
 *
 * Maps fields to the model: the kind of a field, its element type, or the reason why it cannot be read
 * (specification, "Mapping of C++ Types to Fields and Columns").
 */
#include "formats/rntuple/rntuple.h"

/* ---- Type names ---- */

/* The normalised name of a type, then the spellings of old writers. A field's type overrides its column's:
 * drafts stored signed integers in columns of unsigned types. */
static const struct {
    enum nt_element element;
    const char *spellings[6]; /* up to NULL */
} types[] = {
    {NT_ELEMENT_BOOL, {"bool", "Bool_t"}},
    {NT_ELEMENT_BYTE, {"char", "std::byte", "Char_t"}},
    {NT_ELEMENT_INT8, {"std::int8_t", "int8_t", "signed char"}},
    {NT_ELEMENT_UINT8, {"std::uint8_t", "uint8_t", "unsigned char", "UChar_t"}},
    {NT_ELEMENT_INT16, {"std::int16_t", "int16_t", "short", "Short_t"}},
    {NT_ELEMENT_UINT16, {"std::uint16_t", "uint16_t", "unsigned short", "UShort_t"}},
    {NT_ELEMENT_INT32, {"std::int32_t", "int32_t", "int", "Int_t"}},
    {NT_ELEMENT_UINT32, {"std::uint32_t", "uint32_t", "unsigned int", "unsigned", "UInt_t"}},
    {NT_ELEMENT_INT64, {"std::int64_t", "int64_t", "long", "long long", "Long64_t"}},
    {NT_ELEMENT_UINT64, {"std::uint64_t", "uint64_t", "unsigned long", "unsigned long long", "ULong64_t"}},
    {NT_ELEMENT_REAL32, {"float", "Float_t"}},
    {NT_ELEMENT_REAL64, {"double", "Double32_t", "Double_t"}},
};

bool nt_type_element(struct nt_text type, enum nt_element *element_ret)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (nt_text_is_one_of(type, types[i].spellings)) {
            *element_ret = types[i].element;
            return true;
        }
    }
    return false;
}

/* RNTupleCardinality<std::uint32_t>, in all its namespaces. In the first drafts it had no argument, and
 * the sizes are as wide as the column's offsets. */
static bool is_cardinality(struct nt_text type, enum nt_element *element)
{
    nt_text_skip(&type, "ROOT::");
    nt_text_skip(&type, "Experimental::");
    if (!nt_text_skip(&type, "RNTupleCardinality"))
        return false;
    if (type.length == 0)
        return true;
    if (!nt_text_skip(&type, "<") || type.bytes[type.length - 1] != '>')
        return false;
    type.length--;
    return nt_type_element(type, element);
}

/* ---- Columns ---- */

/* The roles of a column in a field. */
enum column_class {
    CLASS_NONE,
    CLASS_INDEX,
    CLASS_BIT,
    CLASS_BYTES, /* Byte, Char */
    CLASS_SWITCH,
    CLASS_NUMBER,
    CLASS_ANY, /* only in the table below */
    CLASS_UNKNOWN,
};

static enum column_class class_of(const struct nt_decoder *decoder)
{
    switch (decoder->encoding) {
    case NT_ENCODING_UNKNOWN:
        return CLASS_UNKNOWN;
    case NT_ENCODING_BIT:
        return CLASS_BIT;
    case NT_ENCODING_BYTE:
    case NT_ENCODING_CHAR:
        return CLASS_BYTES;
    default:
        if (decoder->element == NT_ELEMENT_SWITCH)
            return CLASS_SWITCH;
        return nt_encoding_info(decoder->encoding)->is_index ? CLASS_INDEX : CLASS_NUMBER;
    }
}

struct column_pattern {
    enum nt_role role;
    enum column_class columns[2]; /* of one representation */
    enum nt_field_kind kind;
};

/* The first match decides. */
static const struct column_pattern patterns[] = {
    {NT_ROLE_PLAIN, {CLASS_NONE, CLASS_NONE}, NT_FIELD_RECORD},
    {NT_ROLE_PLAIN, {CLASS_INDEX, CLASS_BYTES}, NT_FIELD_STRING},
    {NT_ROLE_PLAIN, {CLASS_ANY, CLASS_NONE}, NT_FIELD_VALUE},
    {NT_ROLE_COLLECTION, {CLASS_INDEX, CLASS_NONE}, NT_FIELD_COLLECTION},
    {NT_ROLE_COLLECTION, {CLASS_BIT, CLASS_NONE}, NT_FIELD_DENSE_OPTIONAL},
    {NT_ROLE_RECORD, {CLASS_NONE, CLASS_NONE}, NT_FIELD_RECORD},
    {NT_ROLE_VARIANT, {CLASS_SWITCH, CLASS_NONE}, NT_FIELD_VARIANT},
    {NT_ROLE_STREAMED, {CLASS_INDEX, CLASS_BYTES}, NT_FIELD_STREAMED},
};

static bool class_fits(enum column_class requested, enum column_class found)
{
    return requested == found || (requested == CLASS_ANY && found != CLASS_NONE && found != CLASS_UNKNOWN);
}

static const struct nt_decoder *decoder_at(const struct nt_dataset *dataset, uint32_t field,
                                           uint32_t representation, uint32_t position)
{
    uint32_t column = nt_field_column(dataset, field, representation, position);
    return column == NT_NONE ? NULL : nt_column_decoder(dataset, column);
}

static enum nt_field_kind kind_of_representation(const struct nt_dataset *dataset, uint32_t field,
                                                 uint32_t representation)
{
    enum column_class classes[2] = {CLASS_NONE, CLASS_NONE};
    for (uint32_t position = 0; position < 2; position++) {
        const struct nt_decoder *decoder = decoder_at(dataset, field, representation, position);
        if (decoder)
            classes[position] = class_of(decoder);
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        const struct column_pattern *row = &patterns[i];
        if (row->role == dataset->fields[field].role && class_fits(row->columns[0], classes[0]) &&
            class_fits(row->columns[1], classes[1]))
            return row->kind;
    }
    return NT_FIELD_UNREADABLE;
}

/* ---- Reasons ---- */

enum { NAMED_COLUMNS = 4 };

static const char *reason(struct nt_dataset *dataset, const struct nt_field *field)
{
    uint32_t count;
    const uint32_t *columns = nt_field_columns(dataset, (uint32_t)(field - dataset->fields), &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct nt_column *column = &dataset->columns[columns[i]];
        const struct nt_decoder *decoder = nt_decoders_get(&dataset->decoders, column->decoder);
        bool is_quantized = strcmp(column->type_name, nt_encoding_info(NT_ENCODING_REAL32_QUANT)->name) == 0;
        if (is_quantized && !nt_column_has_range(column))
            return nt_arena_format(dataset->arena, "quantized column %u has no range of values", column->id);
        if (decoder->encoding == NT_ENCODING_UNKNOWN)
            return nt_arena_format(dataset->arena, "column %u has the unknown type %s of %u bits", column->id,
                                   column->type_name, decoder->bits);
    }
    const char *found = count ? dataset->columns[columns[0]].type_name : "none";
    for (uint32_t i = 1; found && i < nt_min(count, NAMED_COLUMNS); i++)
        found = nt_arena_format(dataset->arena, "%s, %s", found, dataset->columns[columns[i]].type_name);
    return found ? nt_arena_format(dataset->arena, "the columns do not fit a %s field: found %s%s",
                                   nt_role_name(field->role), found, count > NAMED_COLUMNS ? ", ..." : "")
                 : NULL;
}

/* ---- One field ---- */

static bool converts_to(const struct nt_dataset *dataset, uint32_t field, enum nt_element element)
{
    for (uint32_t i = 0; i < nt_field_representations(dataset, field); i++)
        if (!nt_element_can_convert(decoder_at(dataset, field, i, 0)->element, element))
            return false;
    return true;
}

/* Finds the element of a VALUE or CARDINALITY: the type's own if all representations convert to it,
 * else the first representation's. False if they have nothing in common. */
static bool find_element(const struct nt_dataset *dataset, uint32_t field, enum nt_element *element_ret)
{
    const struct nt_field *f = &dataset->fields[field];
    enum nt_element of_column = decoder_at(dataset, field, 0, 0)->element;
    *element_ret = of_column;
    if ((is_cardinality(f->type, element_ret) || nt_type_element(f->type, element_ret)) &&
        converts_to(dataset, field, *element_ret))
        return true;
    *element_ret = of_column;
    return converts_to(dataset, field, of_column);
}

/* Kinds that only the type's name distinguishes. */
static const struct {
    enum nt_field_kind kind;
    const char *prefix;
    enum nt_field_kind named;
} named_kinds[] = {
    {NT_FIELD_COLLECTION, "std::optional<", NT_FIELD_OPTIONAL},
    {NT_FIELD_COLLECTION, "std::unique_ptr<", NT_FIELD_OPTIONAL},
    {NT_FIELD_RECORD, "std::pair<", NT_FIELD_TUPLE},
    {NT_FIELD_RECORD, "std::tuple<", NT_FIELD_TUPLE},
};

static enum nt_field_kind kind_by_name(enum nt_field_kind kind, struct nt_text type)
{
    for (size_t i = 0; i < sizeof(named_kinds) / sizeof(named_kinds[0]); i++) {
        struct nt_text rest = type;
        if (named_kinds[i].kind == kind && nt_text_skip(&rest, named_kinds[i].prefix) && rest.length)
            return named_kinds[i].named;
    }
    return kind;
}

/* A field without columns. */
static enum nt_field_kind kind_of_container(const struct nt_field *field)
{
    if (field->repetition)
        return NT_FIELD_ARRAY;
    if (field->role == NT_ROLE_PLAIN && field->child_count == 1)
        return NT_FIELD_WRAPPER;
    return kind_by_name(NT_FIELD_RECORD, field->type);
}

static enum nt_field_kind find_kind(const struct nt_dataset *dataset, uint32_t field)
{
    const struct nt_field *f = &dataset->fields[field];
    enum nt_field_kind kind =
        f->columns_per_representation > 2 ? NT_FIELD_UNREADABLE : kind_of_representation(dataset, field, 0);
    for (uint32_t i = 1; i < nt_field_representations(dataset, field); i++)
        if (kind_of_representation(dataset, field, i) != kind)
            return NT_FIELD_UNREADABLE;
    if (kind == NT_FIELD_VALUE && class_of(decoder_at(dataset, field, 0, 0)) == CLASS_INDEX) {
        enum nt_element ignored;
        return is_cardinality(f->type, &ignored) ? NT_FIELD_CARDINALITY : NT_FIELD_VALUE;
    }
    return kind == NT_FIELD_RECORD ? kind_of_container(f) : kind_by_name(kind, f->type);
}

static enum nt_status decide(struct nt_dataset *dataset, uint32_t field, struct nt_error *error)
{
    struct nt_field *f = &dataset->fields[field];
    enum nt_element element = NT_ELEMENT_OPAQUE;
    f->kind = find_kind(dataset, field);
    switch (f->kind) {
    case NT_FIELD_STRING:
    case NT_FIELD_STREAMED:
        element = NT_ELEMENT_BYTE;
        break;
    case NT_FIELD_VALUE:
    case NT_FIELD_CARDINALITY:
        if (!find_element(dataset, field, &element))
            f->kind = NT_FIELD_UNREADABLE;
        break;
    default:
        break;
    }
    f->dtype = nt_element_dtype(element);
    if (f->kind == NT_FIELD_VALUE && f->repetition) {
        f->dimensions = &f->repetition;
        f->dimension_count = 1;
    }
    if (f->kind == NT_FIELD_UNREADABLE) {
        f->unreadable = reason(dataset, f);
        return f->unreadable ? NT_OK : nt_fail_memory(error);
    }
    return NT_OK;
}

/* ---- All fields ---- */

/* How many sub-fields a field must have; NT_NONE if any number is right. In drafts, arrays are records, and
 * collections without a type have the members of their items as sub-fields. */
static uint32_t expected_children(const struct nt_field *field)
{
    switch (field->role) {
    case NT_ROLE_PLAIN:
        return field->column_count ? 0 : 1;
    case NT_ROLE_COLLECTION:
        return field->type.length ? 1 : NT_NONE;
    case NT_ROLE_STREAMED:
        return 0;
    default:
        return field->role == NT_ROLE_RECORD && field->repetition ? 1 : NT_NONE;
    }
}

/* Returns why the field and its descendants cannot be placed into rows; NULL if they can. */
static const char *structural_reason(struct nt_dataset *dataset, const struct nt_field *field,
                                     const struct nt_field_record *record)
{
    uint32_t expected = expected_children(field);
    if (record->role >= NT_ROLE_COUNT)
        return nt_arena_format(dataset->arena, "unknown structural role %u", record->role);
    if ((record->flags & NT_FIELD_REPETITIVE) && record->repetition == 0)
        return "an array has no elements";
    if (expected != NT_NONE && field->child_count != expected)
        return nt_arena_format(dataset->arena, "sub-fields of a %s field %s columns: expected %u, found %u",
                               nt_role_name(field->role), field->column_count ? "with" : "without", expected,
                               field->child_count);
    return NULL;
}

/* A field inherits the reason of an ancestor of unknown structure. */
static const char *inherited_reason(const struct nt_dataset *dataset, const char *const *reasons,
                                    uint32_t field)
{
    for (uint32_t at = field; at != NT_NONE; at = dataset->fields[at].parent)
        if (reasons[at])
            return reasons[at];
    return NULL;
}

/* An unknown version makes the whole top-level field unknown. Specification, "Notes on Backward and
 * Forward Compatibility". */
static enum nt_status find_unknown_versions(struct nt_dataset *dataset, const struct nt_field_record *records,
                                            const char **reasons, struct nt_error *error)
{
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t top = nt_field_top(dataset, i);
        if (records[i].field_version == 0 || reasons[top])
            continue;
        reasons[top] = nt_arena_format(dataset->arena, "unknown field version %u of field %u",
                                       records[i].field_version, dataset->fields[i].id);
        NT_TRY(nt_check_memory(reasons[top], error));
    }
    return NT_OK;
}

/* A projected field is unknown if its declared source field is, or the field that owns its columns. */
static void project_reasons(const struct nt_dataset *dataset, const char **reasons)
{
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        uint32_t source = nt_field_source(&dataset->fields[i]), column_count;
        const uint32_t *columns = nt_field_columns(dataset, i, &column_count);
        if (source != NT_NONE && !reasons[i])
            reasons[i] = reasons[nt_field_top(dataset, source)];
        if (source != NT_NONE && !reasons[i] && column_count)
            reasons[i] = reasons[nt_field_top(dataset, dataset->columns[columns[0]].field)];
    }
}

static enum nt_status find_reasons(struct nt_dataset *dataset, const struct nt_generation *generation,
                                   const struct nt_field_record *records, const char **reasons,
                                   struct nt_error *error)
{
    if (generation->has_field_versions) {
        NT_TRY(find_unknown_versions(dataset, records, reasons, error));
        project_reasons(dataset, reasons);
    }
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (!reasons[i])
            reasons[i] = dataset->fields[i].unreadable
                             ? dataset->fields[i].unreadable
                             : structural_reason(dataset, &dataset->fields[i], &records[i]);
    return NT_OK;
}

enum nt_status nt_field_kinds_decide(struct nt_dataset *dataset, const struct nt_generation *generation,
                                     const struct nt_field_record *records, struct nt_error *error)
{
    uint32_t count = dataset->field_count;
    NT_AUTO_FREE const char **reasons = calloc(count ? count : 1, sizeof(*reasons));
    NT_TRY(nt_check_memory(reasons, error));
    NT_TRY(find_reasons(dataset, generation, records, reasons, error));
    for (uint32_t i = 0; i < count; i++) {
        struct nt_field *field = &dataset->fields[i];
        field->unreadable = inherited_reason(dataset, reasons, i);
        if (field->unreadable)
            field->kind = NT_FIELD_UNREADABLE;
        else
            NT_TRY(decide(dataset, i, error));
    }
    return NT_OK;
}
