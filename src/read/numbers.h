/* SPDX-License-Identifier: MIT
 *
 * A choice while it is read: element after element of a file.
 */
#ifndef NT_CHOICE_NUMBERS_H
#define NT_CHOICE_NUMBERS_H

#include <ntuple/choice.h>

struct nt_choice {
    char *path; /* NULL: a range */
    struct nt_entry_range *ranges;
    size_t count, capacity;
    uint64_t elements; /* of the file, so far */
    uint64_t line;     /* of a text, that which is read, from 1; else 0 */
    bool is_mask;      /* an element for each entry */
};

/* The next element of the file: an entry's number. NT_INVALID where it does not ascend. */
enum nt_status nt_choice_add_number(struct nt_choice *choice, uint64_t number, struct nt_error *error);
/* The next element of a mask. */
enum nt_status nt_choice_add_bool(struct nt_choice *choice, bool is_chosen, struct nt_error *error);
/* "FILE: element 7: " or, of a text, "FILE: line 8: element 7: ", and what is said. */
enum nt_status nt_choice_refuse_element(const struct nt_choice *choice, struct nt_error *error,
                                        const char *format, ...) __attribute__((format(printf, 3, 4)));
/* That the file is of no kind that could be a choice. */
enum nt_status nt_choice_refuse_kind(const struct nt_choice *choice, struct nt_error *error);

#endif
