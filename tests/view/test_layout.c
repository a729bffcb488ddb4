/* SPDX-License-Identifier: MIT
 *
 * Owners of bytes that no format of today has: what pages are decoded with.
 */
#include "planned_dataset.h"
#include "support.h"
#include "view/layout.h"

static struct nt_layout_item item_at(struct nt_layout *layout, uint64_t offset)
{
    struct nt_layout_item found = {0}, item;
    unsigned count = 0;
    bool has_item;
    nt_layout_rewind(layout);
    while (nt_layout_next(layout, &item, &has_item, NULL) == NT_OK && has_item)
        if (item.offset == offset) {
            found = item;
            count++;
        }
    ck_assert_msg(count == 1, "%u owners of byte %llu", count, (unsigned long long)offset);
    return found;
}

static void check_input(struct nt_layout *layout, uint64_t offset, uint64_t bytes)
{
    const struct nt_layout_item input = item_at(layout, offset), digest = item_at(layout, offset + bytes);
    ck_assert_str_eq(input.owner, "input");
    ck_assert_uint_eq(input.bytes, bytes);
    ck_assert_uint_eq(input.dataset, 0);
    ck_assert_uint_eq(input.column, NT_NONE);
    ck_assert_str_eq(digest.owner, "checksum");
    ck_assert_uint_eq(digest.bytes, 8);
}

/* Two plans share the items. */
START_TEST(what_pages_are_decoded_with_has_an_owner_and_only_one)
{
    static struct planned planned;
    struct nt_error error;
    struct nt_layout *layout;
    struct nt_layout_item item;
    bool has_item;
    planned_dataset(&planned);
    struct nt_dataset *dataset = planned.builder->dataset;
    struct nt_decoder decoder = *nt_decoders_get(&dataset->decoders, planned.decoder);
    struct nt_page inputs[2] = {decoder.plan->inputs[0], decoder.plan->inputs[1]};
    struct nt_plan plan = *decoder.plan;
    uint32_t number;
    inputs[0].parameter = 1;
    plan.inputs = inputs;
    decoder.plan = &plan;
    assert_ok(nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, &number,
                              &error));
    ck_assert_uint_ne(number, planned.decoder);
    assert_ok(nt_layout_new(planned.builder->file, &layout, &error));
    check_input(layout, planned.numbers_offset, PLANNED_NUMBERS * sizeof(uint16_t));
    check_input(layout, planned.items_offset, PLANNED_ITEMS * sizeof(double));
    nt_layout_rewind(layout);
    while (nt_layout_next(layout, &item, &has_item, &error) == NT_OK && has_item)
        ck_assert_str_ne(item.owner, "gap");
    nt_layout_free(layout);
    builder_free(planned.builder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view: layout");
    TCase *cases = tcase_create("inputs");
    tcase_add_test(cases, what_pages_are_decoded_with_has_an_owner_and_only_one);
    suite_add_tcase(suite, cases);
    return nt_test_main(suite);
}
