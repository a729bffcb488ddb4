/* SPDX-License-Identifier: MIT
 *
 * Writes arrays and tables of BLZ into a temporary directory, and reads them through the whole pipeline.
 */
#pragma once

#include <jansson.h>

#include <ntuple/read.h>

#include "bloscpack_writer.h"
#include "blz_writer.h"
#include "core/model/model.h"
#include "support.h"

extern struct nt_error error;
extern struct nt_reader *reader;

void set_up(void);
void tear_down(void);

/* ---- writing ---- */

enum { ROWS = 350, CHUNK_ROWS = 100 };

/* 350 integers in chunks of 100, each three times the row's number. */
void put_integers(const char *array);

/* ---- reading ---- */

struct nt_file *open_path(const char *name);
enum nt_status open_status(const char *name);
void close_file(struct nt_file *file);
/* The field of a path of names, "rec/a". */
uint32_t find_field(const struct nt_dataset *dataset, const char *path);
/* All bytes of a field's data; the caller frees them. */
uint8_t *read_data(struct nt_dataset *dataset, const char *path, size_t *bytes_ret);
/* Checks which rows of an array of integers can be read, and that these have the right values. */
void check_rows(struct nt_dataset *dataset, const char *path, unsigned bad_first, unsigned bad_end);

/* The members that the format adds to field.json; the caller calls json_decref. */
json_t *describe_field(const struct nt_dataset *dataset, uint32_t field);
