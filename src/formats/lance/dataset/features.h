/* SPDX-License-Identifier: MIT
 *
 * What a manifest asks of its readers.
 */
#ifndef NT_FORMAT_LANCE_DATASET_FEATURES_H
#define NT_FORMAT_LANCE_DATASET_FEATURES_H

#include "core/base/error.h"

/* Refuse the reader's feature flags that are not read: NT_UNSUPPORTED, with number and, where it has one, name.
 * `offset`: of the manifest. */
enum nt_status nt_lance_check_features(uint64_t flags, uint64_t offset, struct nt_error *error);

#endif
