/* SPDX-License-Identifier: MIT
 *
 * Components of ROOT's classes with streamers of their own.
 */
#include "formats/ttree/interpret.h"

#include "core/base/error.h"
#include "core/base/text.h"

static enum nt_status open_record(struct nt_component_builder *builder, struct nt_text name,
                                  struct nt_text class_name, enum nt_component_header header,
                                  uint32_t *index_ret, struct nt_error *error)
{
    return nt_component_open(builder,
                             &(struct nt_component){.kind = NT_COMPONENT_RECORD,
                                                    .header = header,
                                                    .name = name,
                                                    .type = class_name,
                                                    .version = NT_STREAMER_NEWEST},
                             index_ret, error);
}

static enum nt_status add_number(struct nt_component_builder *builder, struct nt_text name, const char *type,
                                 int32_t number, struct nt_error *error)
{
    return nt_component_add_number(builder, name, nt_text_of(type), number, (struct nt_text){0}, error);
}

enum nt_status nt_custom_add_bits(struct nt_component_builder *builder, struct nt_text name,
                                  struct nt_text type, uint8_t *counter_ret, struct nt_error *error)
{
    uint32_t first = builder->count;
    enum nt_status status =
        nt_component_add_number(builder, name, type, NT_STREAMER_BITS, (struct nt_text){0}, error);
    if (status == NT_OK)
        status = nt_component_count_by(builder, first, name, counter_ret, error);
    return status == NT_OK
               ? nt_component_add(
                     builder, &(struct nt_component){.kind = NT_COMPONENT_PROCESS, .counter = *counter_ret},
                     error)
               : status;
}

/* Opens a TObject, with its number and its bits. */
static enum nt_status open_tobject(struct nt_component_builder *builder, struct nt_text name,
                                   struct nt_text class_name, struct nt_text number_name, uint32_t *index_ret,
                                   uint8_t *counter_ret, struct nt_error *error)
{
    enum nt_status status = open_record(builder, name, class_name, NT_COMPONENT_OWN, index_ret, error);
    if (status != NT_OK)
        return status;
    builder->components[*index_ret].is_tobject = true;
    status = add_number(builder, number_name, "UInt_t", NT_STREAMER_UINT, error);
    if (status == NT_OK)
        status = nt_custom_add_bits(builder, NT_TEXT("fBits"), NT_TEXT("UInt_t"), counter_ret, error);
    if (status != NT_OK)
        nt_component_close(builder, *index_ret);
    return status;
}

static enum nt_status add_tobject(struct nt_component_builder *builder, struct nt_text name,
                                  struct nt_text class_name, struct nt_error *error)
{
    uint32_t index = 0;
    uint8_t counter = 0;
    enum nt_status status =
        open_tobject(builder, name, class_name, NT_TEXT("fUniqueID"), &index, &counter, error);
    if (status == NT_OK)
        nt_component_close(builder, index);
    return status;
}

/* Adds the members of a TObject to a record: those of its base class. */
static enum nt_status add_tobject_base(struct nt_component_builder *builder, struct nt_error *error)
{
    uint32_t base = builder->count;
    enum nt_status status = add_tobject(builder, NT_TEXT("TObject"), NT_TEXT("TObject"), error);
    if (status == NT_OK)
        builder->components[base].is_base = builder->components[base].is_flat = true;
    return status;
}

/* A TObject, then the number of a process, or a text if the bits say that there is a UUID. */
static enum nt_status add_reference(struct nt_component_builder *builder, struct nt_text name,
                                    struct nt_text class_name, struct nt_error *error)
{
    uint32_t index = 0;
    uint8_t counter = 0;
    enum nt_status status = open_tobject(builder, name, class_name, NT_TEXT("ref"), &index, &counter, error);
    if (status != NT_OK)
        return status;
    status = nt_component_add(
        builder, &(struct nt_component){.kind = NT_COMPONENT_REFERENCE, .counter = counter}, error);
    nt_component_close(builder, index);
    return status;
}

/* The numbers of objects, after the name of the list, the index of the first, and a process. */
static enum nt_status add_reference_numbers(struct nt_component_builder *builder, uint32_t first,
                                            struct nt_error *error)
{
    struct nt_component list = {
        .kind = NT_COMPONENT_COUNTED, .name = NT_TEXT("refs"), .type = NT_TEXT("UInt_t*")};
    uint32_t index = 0;
    enum nt_status status =
        nt_component_add_string(builder, NT_TEXT("fName"), NT_TEXT("TString"), NT_COMPONENT_BARE, 1, error);
    if (status == NT_OK)
        status = add_number(builder, NT_TEXT("fSize"), "Int_t", NT_STREAMER_INT, error);
    if (status == NT_OK)
        status = nt_component_count_by(builder, first, NT_TEXT("fSize"), &list.counter, error);
    if (status == NT_OK)
        status = add_number(builder, NT_TEXT("fLowerBound"), "Int_t", NT_STREAMER_INT, error);
    if (status == NT_OK)
        status = nt_component_add(
            builder, &(struct nt_component){.kind = NT_COMPONENT_SKIP, .count = sizeof(uint16_t)}, error);
    if (status == NT_OK)
        status = nt_component_open(builder, &list, &index, error);
    if (status != NT_OK)
        return status;
    status = add_number(builder, nt_item_name, "UInt_t", NT_STREAMER_UINT, error);
    nt_component_close(builder, index);
    return status;
}

static enum nt_status add_references(struct nt_component_builder *builder, struct nt_text name,
                                     struct nt_text class_name, struct nt_error *error)
{
    uint32_t index = 0, base;
    enum nt_status status = open_record(builder, name, class_name, NT_COMPONENT_OWN, &index, error);
    if (status != NT_OK)
        return status;
    base = builder->count;
    status = add_tobject_base(builder, error);
    if (status == NT_OK)
        status = add_reference_numbers(builder, base, error);
    builder->components[index].is_tobject = true;
    nt_component_close(builder, index);
    return status;
}

/* A list of numbers, whose length comes first. */
static enum nt_status add_array(struct nt_component_builder *builder, struct nt_text name,
                                struct nt_text class_name, const char *type, int32_t number,
                                struct nt_error *error)
{
    uint32_t index = 0;
    enum nt_status status = nt_component_open(
        builder, &(struct nt_component){.kind = NT_COMPONENT_COLLECTION, .name = name, .type = class_name},
        &index, error);
    if (status != NT_OK)
        return status;
    status = add_number(builder, nt_item_name, type, number, error);
    nt_component_close(builder, index);
    return status;
}

static enum nt_status add_named(struct nt_component_builder *builder, struct nt_text name,
                                struct nt_text class_name, struct nt_error *error)
{
    uint32_t index = 0;
    enum nt_status status = open_record(builder, name, class_name, NT_COMPONENT_OWN, &index, error);
    if (status != NT_OK)
        return status;
    status = add_tobject_base(builder, error);
    if (status == NT_OK)
        status = nt_component_add_string(builder, NT_TEXT("fName"), NT_TEXT("TString"), NT_COMPONENT_BARE, 1,
                                         error);
    if (status == NT_OK)
        status = nt_component_add_string(builder, NT_TEXT("fTitle"), NT_TEXT("TString"), NT_COMPONENT_BARE, 1,
                                         error);
    nt_component_close(builder, index);
    return status;
}

/* The members of a TMatrixTBase, whose header is the only one, then the upper right triangle. */
static enum nt_status add_symmetric_matrix(struct nt_component_builder *builder, struct nt_text name,
                                           struct nt_text class_name, struct nt_error *error)
{
    struct nt_cpp_type item = {0};
    struct nt_text base_name = {0};
    struct nt_component component = {
        .kind = NT_COMPONENT_COUNTED, .name = NT_TEXT("fElements"), .type = class_name, .is_triangle = true};
    bool is_double = nt_cpp_names_are_equal(class_name, NT_TEXT("TMatrixTSym<double>"));
    base_name = is_double ? NT_TEXT("TMatrixTBase<double>") : NT_TEXT("TMatrixTBase<float>");
    item = nt_cpp_type_parse(is_double ? NT_TEXT("double") : NT_TEXT("float"));
    uint32_t index = 0, list = 0, base, first;
    enum nt_status status = open_record(builder, name, class_name, NT_COMPONENT_BARE, &index, error);
    if (status != NT_OK)
        return status;
    base = first = builder->count;
    status = nt_component_add_object(builder, base_name, base_name, NT_STREAMER_NEWEST, 0, error);
    if (status == NT_OK && builder->components[base].kind != NT_COMPONENT_RECORD)
        status = nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "the file does not describe the class %s",
                         base_name.bytes);
    if (status == NT_OK) {
        builder->components[base].is_base = builder->components[base].is_flat = true;
        status = nt_component_count_by(builder, first, NT_TEXT("fNrows"), &component.counter, error);
    }
    if (status == NT_OK)
        status = nt_component_open(builder, &component, &list, error);
    if (status == NT_OK) {
        status = nt_component_add_number(builder, nt_item_name, item.name, item.number, (struct nt_text){0},
                                         error);
        nt_component_close(builder, list);
    }
    nt_component_close(builder, index);
    return status;
}

static const struct array_class {
    const char *name, *type;
    int32_t number;
} array_classes[] = {
    {"TArrayC", "Char_t", NT_STREAMER_CHAR},       {"TArrayS", "Short_t", NT_STREAMER_SHORT},
    {"TArrayI", "Int_t", NT_STREAMER_INT},         {"TArrayL", "Long_t", NT_STREAMER_LONG},
    {"TArrayL64", "Long64_t", NT_STREAMER_LONG64}, {"TArrayF", "Float_t", NT_STREAMER_FLOAT},
    {"TArrayD", "Double_t", NT_STREAMER_DOUBLE},
};

static const struct array_class *find_array(struct nt_text class_name)
{
    for (size_t i = 0; i < sizeof(array_classes) / sizeof(*array_classes); i++)
        if (nt_text_is(class_name, array_classes[i].name))
            return &array_classes[i];
    return NULL;
}

static bool is_symmetric_matrix(struct nt_text class_name)
{
    return nt_cpp_names_are_equal(class_name, NT_TEXT("TMatrixTSym<double>")) ||
           nt_cpp_names_are_equal(class_name, NT_TEXT("TMatrixTSym<float>"));
}

static enum nt_status add_date(struct nt_component_builder *builder, struct nt_text name,
                               struct nt_text class_name, struct nt_error *error)
{
    uint32_t index = 0;
    enum nt_status status = open_record(builder, name, class_name, NT_COMPONENT_BARE, &index, error);
    if (status != NT_OK)
        return status;
    status = add_number(builder, NT_TEXT("fDatime"), "UInt_t", NT_STREAMER_UINT, error);
    nt_component_close(builder, index);
    return status;
}

/* Lists of objects whose classes only their data name. */
static bool is_list(struct nt_text class_name)
{
    static const char *const names[] = {"TClonesArray", "TObjArray",      "TList", "THashList",
                                        "TSortedList",  "TOrdCollection", "TMap",  "THashTable",
                                        "TBtree",       "TRefTable"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (nt_text_is(class_name, names[i]))
            return true;
    return false;
}

bool nt_custom_is_known(struct nt_text class_name)
{
    static const char *const names[] = {"TObject", "TNamed", "TString", "TDatime", "TRef", "TRefArray"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (nt_text_is(class_name, names[i]))
            return true;
    return find_array(class_name) || is_symmetric_matrix(class_name) || is_list(class_name);
}

enum nt_status nt_custom_add(struct nt_component_builder *builder, struct nt_text name,
                             struct nt_text class_name, struct nt_error *error)
{
    const struct array_class *array = find_array(class_name);
    if (array)
        return add_array(builder, name, class_name, array->type, array->number, error);
    if (nt_text_is(class_name, "TNamed"))
        return add_named(builder, name, class_name, error);
    if (nt_text_is(class_name, "TString"))
        return nt_component_add_string(builder, name, class_name, NT_COMPONENT_BARE, 1, error);
    if (nt_text_is(class_name, "TDatime"))
        return add_date(builder, name, class_name, error);
    if (nt_text_is(class_name, "TRef"))
        return add_reference(builder, name, class_name, error);
    if (nt_text_is(class_name, "TRefArray"))
        return add_references(builder, name, class_name, error);
    if (is_symmetric_matrix(class_name))
        return add_symmetric_matrix(builder, name, class_name, error);
    if (is_list(class_name))
        return nt_component_add_unknown(builder, name, class_name, NT_COMPONENT_OWN,
                                        "the classes of its objects are known only from its data", error);
    return add_tobject(builder, name, class_name, error);
}
