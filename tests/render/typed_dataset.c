/* SPDX-License-Identifier: MIT
 *
 * Two entries: 86400000 and -1, in every type of at least 32 bits. Fields have the names of Arrow's types.
 */
#include "typed_dataset.h"

#include <string.h>

#include "core/base/text.h"
#include "support.h"
#include "core/codec/codec.h"
#include <ntuple/dataset.h>

static const struct type {
    const char *arrow, *numpy;
    uint32_t bytes;
} types[] = {
    {"tdD", "<i4", 4},      {"tdm", "<M8[ms]", 8},     {"tts", "<i4", 4},
    {"ttm", "<i4", 4},      {"ttu", "<m8[us]", 8},     {"ttn", "<m8[ns]", 8},
    {"tss:", "<M8[s]", 8},  {"tsm:UTC", "<M8[ms]", 8}, {"tsu:Europe/Rome", "<M8[us]", 8},
    {"tsn:", "<M8[ns]", 8}, {"tDs", "<m8[s]", 8},      {"tDm", "<m8[ms]", 8},
    {"tDu", "<m8[us]", 8},  {"tDn", "<m8[ns]", 8},     {"d:10,2", "|V16", 16},
    {"d:38,0", "|V16", 16}, {"d:5,-3", "|V16", 16},    {"d:50,3,256", "|V32", 32},
    {"w:3", "|V3", 3},
};

static enum nt_element number_of(uint32_t bytes)
{
    return bytes == 4 ? NT_ELEMENT_INT32 : bytes == 8 ? NT_ELEMENT_INT64 : NT_ELEMENT_OPAQUE;
}

static void add_type(struct builder *builder, const struct type *type)
{
    struct nt_error error;
    uint32_t field = add_field(builder, NT_NONE, NT_FIELD_VALUE, NT_ELEMENT_OPAQUE);
    uint32_t column = add_column(builder, field, NT_ENCODING_INT32, 0); /* replaced below */
    struct nt_field *f = &builder->fields[field];
    f->name = nt_text_of(type->arrow);
    f->dtype = (struct nt_dtype){.element = NT_ELEMENT_OPAQUE,
                                 .bytes = type->bytes,
                                 .number = number_of(type->bytes),
                                 .numpy = type->numpy,
                                 .arrow = type->arrow};
    assert_ok(nt_decoder_init(&builder->decoders[column], NT_ENCODING_OPAQUE, 8 * type->bytes, 0, 0, &error));
    builder->columns[column].dtype = f->dtype;
    add_elements(builder, 0, column, (uint64_t[]){86400000, UINT64_MAX}, 2, 2);
}

struct builder *typed_dataset(void)
{
    struct builder *builder = builder_new();
    add_cluster(builder, 0, 2);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        add_type(builder, &types[i]);
    finish(builder, NULL);
    return builder;
}

/* 86400000 is 0x05265c00. */
const char *const typed_rows =
    "{\"tdD\":86400000,\"tdm\":86400000,\"tts\":86400000,\"ttm\":86400000,\"ttu\":86400000,\"ttn\":86400000,"
    "\"tss:\":86400000,\"tsm:UTC\":86400000,\"tsu:Europe/Rome\":86400000,\"tsn:\":86400000,\"tDs\":86400000,"
    "\"tDm\":86400000,\"tDu\":86400000,\"tDn\":86400000,\"d:10,2\":\"864000.00\",\"d:38,0\":\"86400000\","
    "\"d:5,-3\":\"86400000000\",\"d:50,3,256\":\"86400.000\",\"w:3\":\"AFwm\"}\n"
    "{\"tdD\":-1,\"tdm\":-1,\"tts\":-1,\"ttm\":-1,\"ttu\":-1,\"ttn\":-1,\"tss:\":-1,\"tsm:UTC\":-1,"
    "\"tsu:Europe/Rome\":-1,\"tsn:\":-1,\"tDs\":-1,\"tDm\":-1,\"tDu\":-1,\"tDn\":-1,\"d:10,2\":\"-0.01\","
    "\"d:38,0\":\"-1\",\"d:5,-3\":\"-1000\",\"d:50,3,256\":\"-0.001\",\"w:3\":\"////\"}\n";
