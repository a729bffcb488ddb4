/* SPDX-License-Identifier: MIT
 *
 * Components: what the entries of a branch consist of, from C++ types and streamer elements; shapes and steps
 * follow from them.
 */
#pragma once

#include "formats/ttree/ttree.h"

/* ---- cpp_type.c: names of C++ types, titles of leaves and members ---- */

enum nt_cpp_kind {
    NT_CPP_NUMBER,
    NT_CPP_STRING, /* std::string */
    NT_CPP_TSTRING,
    NT_CPP_CHAR_STAR,
    NT_CPP_COLLECTION, /* of items of type arguments[0] */
    NT_CPP_MAP,        /* of keys and values of types arguments[0] and arguments[1] */
    NT_CPP_PAIR,
    NT_CPP_BITSET,
    NT_CPP_POINTER, /* to arguments[0] */
    NT_CPP_CLASS,
};

struct nt_cpp_type {
    enum nt_cpp_kind kind;
    struct nt_text name;         /* without qualifiers, "std::" and outer spaces */
    int32_t number;              /* enum nt_streamer_type, of a number */
    struct nt_text arguments[2]; /* of a template, the first ones, trimmed; of a pointer, its type */
};

/* Takes the outermost level of a type's name apart. A name that cannot be parsed is a CLASS. */
struct nt_cpp_type nt_cpp_type_parse(struct nt_text text);
/* Are the names of two types equal but for spaces and "std::"? */
bool nt_cpp_names_are_equal(struct nt_text a, struct nt_text b);

/* The class that a typedef of ROOT's stands for, or the name itself. */
struct nt_text nt_cpp_without_typedef(struct nt_text name);

/* The name of a member or branch without the dimensions that follow it. */
struct nt_text nt_cpp_without_dimensions(struct nt_text name);

/* Fixed dimensions. */
struct nt_dimensions {
    uint32_t count;
    uint32_t sizes[NT_STREAMER_DIMENSIONS];
};
/* The fixed dimensions in a leaf's title, "x[2][3]". Where they do not multiply to `length`, there is one
 * dimension of that length, or none if it is at most 1. */
struct nt_dimensions nt_title_dimensions(struct nt_text title, uint32_t length);

/* How a number is stored. */
struct nt_number {
    enum nt_encoding_kind encoding;
    double minimum, maximum; /* as in nt_decoder */
};
/* The encoding of a basic type; of Float16_t and Double32_t the title may have range and bits, like
 * "[0,twopi,12]". False for other types. */
bool nt_number_of(int32_t type, struct nt_text title, struct nt_number *number_ret);

/* ---- component.c, member.c: components from types and classes ---- */

#define FORMAT_TEXT(text) NT_FORMAT_TEXT(text, 200)

extern const struct nt_text nt_item_name; /* "item" */

enum nt_component_kind {
    NT_COMPONENT_NUMBER,
    NT_COMPONENT_STRING,
    NT_COMPONENT_ARRAY,      /* `count` times its child */
    NT_COMPONENT_RECORD,     /* its children */
    NT_COMPONENT_COLLECTION, /* an Int_t number of its child */
    NT_COMPONENT_COUNTED,    /* its child, as often as an earlier number or another branch says; if `count`
                              * is not 0, so many such lists */
    NT_COMPONENT_REST,       /* its child, to the end of the entry */
    NT_COMPONENT_OPTIONAL, /* a pointer to its child, an object of class `class_name`, or (empty, and `count`
                            * is NT_NONE) of any class */
    NT_COMPONENT_CLONES,   /* a TClonesArray of its child, as OPTIONAL. `count` 0: a string, its class */
    NT_COMPONENT_OBJECTS,  /* a list of its child, a pointer or a pair of them; `count`: enum nt_list_form */
    NT_COMPONENT_CASES,    /* a pointer to one of its children, which are OPTIONAL. Without children: a
                            * string, the class of its object */
    NT_COMPONENT_UNKNOWN,  /* skipped by its header, with its reason */
    /* Without shapes: */
    NT_COMPONENT_SKIP,      /* `count` bytes */
    NT_COMPONENT_NAME,      /* the name of the object's class, `class_name` */
    NT_COMPONENT_PROCESS,   /* the number of a process, if the bits of a TObject say that it is referenced */
    NT_COMPONENT_REFERENCE, /* what follows the TObject in a TRef */
};

enum nt_component_header {
    NT_COMPONENT_BARE,
    NT_COMPONENT_OWN,    /* each object has its byte count and version */
    NT_COMPONENT_SHARED, /* of STL types that are members: one header, also for several objects */
};

/* Components are in one array, depth first. */
struct nt_component {
    enum nt_component_kind kind;
    enum nt_component_header header;
    uint32_t end;              /* index of the component after its children */
    struct nt_text name, type; /* of the field */
    struct nt_text class_name; /* of objects as the data name it; of a TClonesArray, "Track;3" */
    struct nt_number number;
    uint32_t count;
    uint8_t counter;      /* of a number that counts: its number; COUNTED: whose value counts; CLONES: its
                           * bits */
    uint8_t length_bytes; /* of a string: 4, or 1 and more if that is 255 */
    int32_t version;      /* of the class in the header; 0 when it is added, then -1: any; -2: none */
    uint32_t checksum;    /* of the class; 0: any */
    bool is_base;         /* a base class: its members are those of the record */
    bool is_flat;         /* its members are in what is above: of a base class, and of a std::array */
    bool is_tobject;      /* its streamer is its own: has its header in any form */
    bool is_map, is_map_item;
    bool is_sample; /* looked for in the first baskets */
    bool has_class; /* a collection of objects of a class: may be stored member by member */
    uint8_t bits;   /* COUNTED: enum nt_counted_bits; REST: enum nt_rest_bits */
    const char *unreadable;
    uint32_t output; /* set with the shapes */
};

enum { NT_COMPONENT_LIMIT = 4096, NT_CLASS_DEPTH = 16, NT_COMPONENT_DEPTH = 64, NT_SLOW_LOOKUP_LIMIT = 32 };

struct nt_component_builder {
    const struct nt_streamer_info *info;
    struct nt_arena *arena;          /* for texts, and the result */
    struct nt_component *components; /* from malloc */
    size_t capacity;
    uint32_t count, opened; /* opened: with those that were dropped again */
    uint32_t counter_count, slow_lookups;
    const struct nt_streamer_class *classes[NT_CLASS_DEPTH]; /* whose members are being added */
    unsigned class_depth, depth;
    bool skips_extras, has_extras;        /* objects of pointers and lists: skip them; some were added */
    bool has_lengths;                     /* another branch has the length of the member that is read */
    const struct nt_text *samples;        /* as in nt_ttree_branch */
    uint32_t known_samples, sample_count; /* of them; needed so far */
    /* The first failure; after it nothing is added. NT_UNSUPPORTED, with the reason: the bytes of what was
     * to be added can be neither read nor skipped, and all that was added is to be dropped. */
    struct nt_error failure;
};

/* Fails with NT_UNSUPPORTED. */
void nt_component_fail(struct nt_component_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails, and returns false, if memory was not allocated. */
bool nt_component_check_memory(struct nt_component_builder *builder, bool is_allocated);

/* Opens a component, whose children are those that follow until it is closed. Returns its index. */
uint32_t nt_component_open(struct nt_component_builder *builder, const struct nt_component *component);
void nt_component_close(struct nt_component_builder *builder, uint32_t index);
/* Adds a component without children. */
void nt_component_add(struct nt_component_builder *builder, const struct nt_component *component);
void nt_component_add_number(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                             int32_t number, struct nt_text title);
void nt_component_add_string(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                             enum nt_component_header header, uint8_t length_bytes);
/* Adds a pointer: with its object if that can only be of the class `type` names, which the file describes; or
 * with objects of the classes that the first baskets name; or without its object, for a reason. */
void nt_component_add_pointer(struct nt_component_builder *builder, struct nt_text name, struct nt_text type);
/* The names of classes that the first baskets have in the next place that needs them. False: not looked for
 * yet; empty: none, or too many places. */
bool nt_component_next_sample(struct nt_component_builder *builder, struct nt_text *names_ret);
/* Why that was empty. */
const char *nt_component_reason_of_sample(const struct nt_component_builder *builder);
/* The counter of the bits in front of a list of objects. */
uint8_t nt_component_new_counter(struct nt_component_builder *builder);
/* Closes what has one class of objects, its child. If they cannot be read, objects of all classes count. */
void nt_component_close_objects(struct nt_component_builder *builder, uint32_t index);
/* Adds what is skipped by its header. */
void nt_component_add_unknown(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                              enum nt_component_header header, const char *reason);
/* If something was unsupported: drops the components that were added since then, and adds one in their
 * place that is skipped, with this reason. */
void nt_component_replace(struct nt_component_builder *builder, uint32_t since, unsigned depth,
                          struct nt_text name, struct nt_text type, enum nt_component_header header);
/* Opens one array for each dimension; `opened` receives their indices. */
void nt_component_open_arrays(struct nt_component_builder *builder, const struct nt_dimensions *dimensions,
                              struct nt_text *name, struct nt_text type, enum nt_component_header header,
                              uint32_t opened[NT_STREAMER_DIMENSIONS]);
void nt_component_close_arrays(struct nt_component_builder *builder, const struct nt_dimensions *dimensions,
                               const uint32_t opened[NT_STREAMER_DIMENSIONS]);

/* Adds a value of a C++ type. `header`: of STL types. `content`: the basic type of the items of a
 * collection as its element has it, for enumerations; 0: unknown. */
void nt_component_add_type(struct nt_component_builder *builder, struct nt_text name, struct nt_text type,
                           enum nt_component_header header, int32_t content);
/* Adds an object of a class, with its header. `version`: NT_STREAMER_NEWEST, or that of the object. */
void nt_component_add_object(struct nt_component_builder *builder, struct nt_text name,
                             struct nt_text class_name, int32_t version, uint32_t checksum);
/* Adds a member of a class; `first`: the component of the class's first member, to find counters. */
void nt_component_add_element(struct nt_component_builder *builder, const struct nt_streamer_element *element,
                              struct nt_text name, uint32_t first);

bool nt_streamer_is_base(const struct nt_streamer_element *element);
/* Is a member of this type an array of numbers whose length is another member? */
bool nt_streamer_is_counted(int32_t type);
/* Is a member of this type an array of objects whose length is another member? Its items are added so. */
bool nt_streamer_is_loop(int32_t type);
void nt_component_add_loop_item(struct nt_component_builder *builder,
                                const struct nt_streamer_element *element);

/* The counter of the last number of this name among the components from `first` on and their base classes. 0:
 * another branch has the numbers. */
uint8_t nt_component_count_by(struct nt_component_builder *builder, uint32_t first, struct nt_text name);

/* The class that a name stands for: not described ones may be typedefs of ROOT's classes. */
struct nt_text nt_component_class_name(struct nt_component_builder *builder, struct nt_text name);

/* NULL: the class is not described. A version that is not there stands for the newest. */
const struct nt_streamer_class *nt_component_find_class(struct nt_component_builder *builder,
                                                        struct nt_text name, int32_t version,
                                                        uint32_t checksum);

/* ---- custom.c: ROOT's classes with streamers of their own ---- */

/* Is the layout of a class known that its description lacks? */
bool nt_custom_is_known(struct nt_text class_name);
/* Does ROOT stream such a class by code of its own, so that its objects always have their header? */
bool nt_custom_has_streamer(struct nt_text class_name);
/* Adds the bits of a TObject; after them is the number of a process if they say that it is referenced.
 * Returns the counter of the bits. */
uint8_t nt_custom_add_bits(struct nt_component_builder *builder, struct nt_text name, struct nt_text type);
/* Adds an object of such a class. */
void nt_custom_add(struct nt_component_builder *builder, struct nt_text name, struct nt_text class_name);

/* ---- component_steps.c: shapes and steps from components ---- */

/* Of component 0 and those below it. `is_entry`: component 0 is a record whose header is absent. */
void nt_components_finish(struct nt_component_builder *builder, bool is_entry,
                          struct nt_interpretation *interpretation);
