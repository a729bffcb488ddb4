/* SPDX-License-Identifier: MIT
 *
 * Components of ROOT's classes with streamers of their own.
 */
#include "formats/ttree/component.h"

struct custom_class {
    const char *name;
    void (*add)(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name);
    const char *item;   /* of arrays: the type of the numbers */
    int32_t parameter;  /* of arrays: enum nt_streamer_type; of lists: enum nt_list_form */
    bool holds_objects; /* whose classes only the data say */
};

static const struct custom_class *find_class(struct nt_text class_name);

static uint32_t open_record(struct nt_component_builder *builder, struct nt_text name,
                            struct nt_text class_name, enum nt_component_header header, bool is_tobject)
{
    return nt_component_open(builder, &(struct nt_component){.kind = NT_COMPONENT_RECORD,
                                                             .header = header,
                                                             .name = name,
                                                             .type = class_name,
                                                             .is_tobject = is_tobject});
}

static void add_number(struct nt_component_builder *builder, struct nt_text name, const char *type,
                       int32_t number)
{
    nt_component_add_number(builder, name, nt_text_of(type), number, (struct nt_text){0});
}

static void add_string(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    nt_component_add_string(builder, name, class_name, NT_COMPONENT_BARE, 1);
}

uint8_t nt_custom_add_bits(struct nt_component_builder *builder, struct nt_text name, struct nt_text type)
{
    uint32_t first = builder->count;
    nt_component_add_number(builder, name, type, NT_STREAMER_BITS, (struct nt_text){0});
    uint8_t counter = nt_component_count_by(builder, first, name);
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_PROCESS, .counter = counter});
    return counter;
}

/* Opens a TObject, with its number and its bits, which `counter_ret` counts. */
static uint32_t open_tobject(struct nt_component_builder *builder, struct nt_text name,
                             struct nt_text class_name, struct nt_text number_name, uint8_t *counter_ret)
{
    uint32_t index = open_record(builder, name, class_name, NT_COMPONENT_OWN, true);
    add_number(builder, number_name, "UInt_t", NT_STREAMER_UINT);
    *counter_ret = nt_custom_add_bits(builder, NT_TEXT("fBits"), NT_TEXT("UInt_t"));
    return index;
}

static void add_tobject(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    uint8_t counter;
    nt_component_close(builder, open_tobject(builder, name, class_name, NT_TEXT("fUniqueID"), &counter));
}

/* The members of a base class are those of its record. */
static void flatten(struct nt_component_builder *builder, uint32_t base)
{
    if (builder->failure.status == NT_OK)
        builder->components[base].is_base = builder->components[base].is_flat = true;
}

static void add_tobject_base(struct nt_component_builder *builder)
{
    uint32_t base = builder->count;
    add_tobject(builder, NT_TEXT("TObject"), NT_TEXT("TObject"));
    flatten(builder, base);
}

/* A TObject, then the number of a process, or a text if the bits say that there is a UUID. */
static void add_reference(struct nt_component_builder *builder, struct nt_text name,
                          struct nt_text class_name)
{
    uint8_t counter;
    uint32_t index = open_tobject(builder, name, class_name, NT_TEXT("ref"), &counter);
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_REFERENCE, .counter = counter});
    nt_component_close(builder, index);
}

/* A TObject, then the numbers of objects after the name of the list, the index of the first, and a process.
 */
static void add_references(struct nt_component_builder *builder, struct nt_text name,
                           struct nt_text class_name)
{
    uint32_t index = open_record(builder, name, class_name, NT_COMPONENT_OWN, true), first = builder->count;
    add_tobject_base(builder);
    add_string(builder, NT_TEXT("fName"), NT_TEXT("TString"));
    add_number(builder, NT_TEXT("fSize"), "Int_t", NT_STREAMER_INT);
    uint8_t counter = nt_component_count_by(builder, first, NT_TEXT("fSize"));
    add_number(builder, NT_TEXT("fLowerBound"), "Int_t", NT_STREAMER_INT);
    nt_component_add(builder, &(struct nt_component){.kind = NT_COMPONENT_SKIP, .count = sizeof(uint16_t)});
    uint32_t list = nt_component_open(builder, &(struct nt_component){.kind = NT_COMPONENT_COUNTED,
                                                                      .name = NT_TEXT("refs"),
                                                                      .type = NT_TEXT("UInt_t*"),
                                                                      .counter = counter});
    add_number(builder, nt_item_name, "UInt_t", NT_STREAMER_UINT);
    nt_component_close(builder, list);
    nt_component_close(builder, index);
}

/* A list of numbers, whose length comes first. */
static void add_array(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    const struct custom_class *array = find_class(class_name);
    uint32_t index = nt_component_open(
        builder, &(struct nt_component){.kind = NT_COMPONENT_COLLECTION, .name = name, .type = class_name});
    add_number(builder, nt_item_name, array->item, array->parameter);
    nt_component_close(builder, index);
}

static void add_named(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    uint32_t index = open_record(builder, name, class_name, NT_COMPONENT_OWN, false);
    add_tobject_base(builder);
    add_string(builder, NT_TEXT("fName"), NT_TEXT("TString"));
    add_string(builder, NT_TEXT("fTitle"), NT_TEXT("TString"));
    nt_component_close(builder, index);
}

/* The members of a TMatrixTBase, whose header is the only one, then the upper right triangle. */
static void add_symmetric_matrix(struct nt_component_builder *builder, struct nt_text name,
                                 struct nt_text class_name)
{
    bool is_double = nt_cpp_names_are_equal(class_name, NT_TEXT("TMatrixTSym<double>"));
    struct nt_text base_name = is_double ? NT_TEXT("TMatrixTBase<double>") : NT_TEXT("TMatrixTBase<float>");
    uint32_t index = open_record(builder, name, class_name, NT_COMPONENT_BARE, false), base = builder->count;
    nt_component_add_object(builder, base_name, base_name, NT_STREAMER_NEWEST, 0);
    if (builder->failure.status == NT_OK && builder->components[base].kind != NT_COMPONENT_RECORD)
        nt_component_fail(builder, "the file does not describe the class %s", base_name.bytes);
    flatten(builder, base);
    uint8_t counter = nt_component_count_by(builder, base, NT_TEXT("fNrows"));
    uint32_t list = nt_component_open(builder, &(struct nt_component){.kind = NT_COMPONENT_COUNTED,
                                                                      .name = NT_TEXT("fElements"),
                                                                      .type = class_name,
                                                                      .counter = counter,
                                                                      .bits = NT_COUNTED_TRIANGLE});
    if (is_double)
        add_number(builder, nt_item_name, "double", NT_STREAMER_DOUBLE);
    else
        add_number(builder, nt_item_name, "float", NT_STREAMER_FLOAT);
    nt_component_close(builder, list);
    nt_component_close(builder, index);
}

static void add_date(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    uint32_t index = open_record(builder, name, class_name, NT_COMPONENT_BARE, false);
    add_number(builder, NT_TEXT("fDatime"), "UInt_t", NT_STREAMER_UINT);
    nt_component_close(builder, index);
}

/* "Track;3": the objects' class and its version. */
static void add_clone(struct nt_component_builder *builder, struct nt_text class_name)
{
    const char *semicolon = memchr(class_name.bytes, ';', class_name.length);
    int32_t version = semicolon ? (int32_t)strtol(semicolon + 1, NULL, 10) : NT_STREAMER_NEWEST;
    if (semicolon)
        class_name.length = (size_t)(semicolon - class_name.bytes);
    const struct nt_streamer_class *class = nt_component_find_class(builder, class_name, version, 0);
    uint32_t since = builder->count;
    unsigned depth = builder->depth;
    if (class && semicolon && class->version != version)
        nt_component_fail(builder, "the file does not describe version %d of class %.*s", (int)version,
                          FORMAT_TEXT(class_name));
    nt_component_add_object(builder, nt_item_name, class_name, version, 0);
    nt_component_replace(builder, since, depth, nt_item_name, class_name, NT_COMPONENT_OWN);
    builder->has_extras = true;
}

/* A TClonesArray: only its data say which class the objects have. */
static void add_clones(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    struct nt_component clones = {
        .kind = NT_COMPONENT_CLONES, .header = NT_COMPONENT_OWN, .name = name, .type = class_name};
    bool is_known = nt_component_next_sample(builder, &clones.class_name);
    clones.count = is_known;
    clones.is_sample = !is_known;
    clones.counter = nt_component_new_counter(builder);
    uint32_t index = nt_component_open(builder, &clones);
    if (clones.class_name.length)
        add_clone(builder, clones.class_name);
    else if (is_known)
        nt_component_add_unknown(builder, nt_item_name, NT_TEXT("TObject"), NT_COMPONENT_BARE,
                                 nt_component_reason_of_sample(builder));
    nt_component_close_objects(builder, index);
}

static void add_pair_of_pointers(struct nt_component_builder *builder, struct nt_text class_name)
{
    uint32_t index = open_record(builder, nt_item_name, class_name, NT_COMPONENT_BARE, false);
    nt_component_add_pointer(builder, NT_TEXT("0"), NT_TEXT("TObject*"));
    nt_component_add_pointer(builder, NT_TEXT("1"), NT_TEXT("TObject*"));
    nt_component_close(builder, index);
}

/* A list of pointers to objects of any class. */
static void add_objects(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    int32_t form = find_class(class_name)->parameter;
    uint8_t counter = nt_component_new_counter(builder);
    uint32_t index = nt_component_open(builder, &(struct nt_component){.kind = NT_COMPONENT_OBJECTS,
                                                                       .header = NT_COMPONENT_OWN,
                                                                       .name = name,
                                                                       .type = class_name,
                                                                       .count = (uint32_t)form,
                                                                       .counter = counter});
    if (form == NT_LIST_OF_PAIRS)
        add_pair_of_pointers(builder, class_name);
    else
        nt_component_add_pointer(builder, nt_item_name, NT_TEXT("TObject*"));
    nt_component_close(builder, index);
}

static void add_unread(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    nt_component_add_unknown(builder, name, class_name, NT_COMPONENT_OWN,
                             "how this class stores its objects is not known");
}

/* ---- The table ---- */

#define ARRAY(name, item, number)                                                                            \
    {                                                                                                        \
        name, add_array, item, number, false                                                                 \
    }
#define LIST(name, form)                                                                                     \
    {                                                                                                        \
        name, add_objects, NULL, form, true                                                                  \
    }
static const struct custom_class classes[] = {
    {.name = "TObject", .add = add_tobject},
    {.name = "TNamed", .add = add_named},
    {.name = "TString", .add = add_string},
    {.name = "TDatime", .add = add_date},
    {.name = "TRef", .add = add_reference},
    {.name = "TRefArray", .add = add_references},
    {.name = "TMatrixTSym<double>", .add = add_symmetric_matrix},
    {.name = "TMatrixTSym<float>", .add = add_symmetric_matrix},
    ARRAY("TArrayC", "Char_t", NT_STREAMER_CHAR),
    ARRAY("TArrayS", "Short_t", NT_STREAMER_SHORT),
    ARRAY("TArrayI", "Int_t", NT_STREAMER_INT),
    ARRAY("TArrayL", "Long_t", NT_STREAMER_LONG),
    ARRAY("TArrayL64", "Long64_t", NT_STREAMER_LONG64),
    ARRAY("TArrayF", "Float_t", NT_STREAMER_FLOAT),
    ARRAY("TArrayD", "Double_t", NT_STREAMER_DOUBLE),
    LIST("TObjArray", NT_LIST_OF_PLACES),
    LIST("TList", NT_LIST_OF_OPTIONS),
    LIST("THashList", NT_LIST_OF_OPTIONS),
    LIST("TMap", NT_LIST_OF_PAIRS),
    {.name = "TClonesArray", .add = add_clones, .holds_objects = true},
    {.name = "TSortedList", .add = add_unread},
    {.name = "TOrdCollection", .add = add_unread},
    {.name = "THashTable", .add = add_unread},
    {.name = "TBtree", .add = add_unread},
    {.name = "TRefTable", .add = add_unread},
};

static const struct custom_class *find_class(struct nt_text class_name)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (nt_cpp_names_are_equal(class_name, nt_text_of(classes[i].name)))
            return &classes[i];
    return NULL;
}

bool nt_custom_is_known(struct nt_text class_name)
{
    return find_class(class_name) != NULL;
}

bool nt_custom_has_streamer(struct nt_text class_name)
{
    return nt_custom_is_known(class_name) && !nt_text_is(class_name, "TNamed");
}

void nt_custom_add(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name)
{
    const struct custom_class *custom = find_class(class_name);
    if (builder->skips_extras && custom->holds_objects)
        nt_component_add_unknown(builder, name, class_name, NT_COMPONENT_OWN,
                                 nt_component_reason_of_sample(builder));
    else
        custom->add(builder, name, class_name);
}
