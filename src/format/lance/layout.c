/* SPDX-License-Identifier: MIT
 *
 * In: an open file of any version. Out: its tail, tables, messages and padding.
 */
#include "format/lance/layout.h"

#include "format/lance/details.h"
#include "format/lance/legacy/describe.h"
#include "format/lance/padding.h"

enum nt_status nt_lance_lay_out_file(const struct nt_lance *lance, const struct nt_layout_output *output,
                                     struct nt_error *error)
{
    if (lance->legacy)
        return nt_lance_legacy_lay_out(lance, output, error);
    enum nt_status status = nt_lance_layout_put_own(lance, output);
    return status == NT_OK ? nt_lance_layout_put_padding(lance, output) : status;
}
