/* SPDX-License-Identifier: MIT
 *
 * What the files of the extension module _ntuple share. Python has handles, capsules each of which holds a
 * reference to one of the structures here. These hold references to one another, and are counted without
 * Python, because Arrow streams are released by any thread at any time.
 *
 * A forked process has none of its parent's workers. It creates its own reader and does not touch what was
 * opened with the old one (handles.c).
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>
#include <sys/types.h>

#include <ntuple/ntuple.h>

struct reader {
    atomic_uint references;
    struct nt_reader *reader;
    struct nt_reader_options options;
    pid_t process; /* whose workers it uses */
};

struct file {
    atomic_uint references;
    struct reader *reader;
    struct nt_file *opened;
    _Atomic(struct nt_file *) file; /* the same, or what nt_file_resolve made of it */
    PyObject *memory;               /* objects with memory to which the file or `bases` refers, or NULL */
    const char **bases;             /* from malloc; the file may refer to it, or NULL */
};

struct stream {
    struct file *file;
    struct nt_stream *stream;
    pid_t process;
};

struct table {
    atomic_uint references;
    struct file *file;
    struct nt_arrow *arrow;
    pid_t process;
};

/* ---- handles.c ---- */

void file_release(struct file *file);
void table_hold(struct table *table);
void table_release(struct table *table);

/* The structure of a handle; NULL with an exception if it is of another kind. */
struct reader *reader_of(PyObject *handle);
struct file *file_of(PyObject *handle);
struct stream *stream_of(PyObject *handle);
struct table *table_of(PyObject *handle);

/* Creates a handle and takes the reference to the structure. NULL with an exception; the reference is
 * gone then, too. */
PyObject *reader_handle(struct reader *reader);
PyObject *file_handle(struct file *file);
PyObject *stream_handle(struct stream *stream);
PyObject *table_handle(struct table *table);

/* This process's reader of the file; NULL with an exception. Requires the interpreter's lock. */
struct nt_reader *reader_here(struct reader *reader);

/* ---- file.c ---- */

/* Opens the rest of a chain, before anything is read from it. False with an exception. */
bool resolve_file(struct file *file);

/* ---- errors.c ---- */

/* Raises the exception that ntuple._errors makes of a failure. Always returns NULL. */
PyObject *raise_error(const struct nt_error *error);

/* ---- values.c ---- */

/* Text of a file as str; bytes that are not UTF-8 become lone surrogates. */
PyObject *text_value(struct nt_text text);
/* The dataset with this index in a file; NULL with an exception. */
struct nt_dataset *dataset_of(struct file *file, unsigned int index);
const struct nt_field *field_of(const struct nt_dataset *dataset, unsigned int index);
/* The contiguous memory of a NumPy array; false with an exception. */
bool memory_of(PyObject *array, bool is_written, void **memory_ret, size_t *bytes_ret);

/* Field numbers from a sequence, in memory that the caller frees; false with an exception. */
bool numbers_of(PyObject *sequence, uint32_t **numbers_ret, size_t *count_ret);

/* Text that is built without the interpreter's lock. */
struct document {
    char *bytes;
    size_t length, capacity;
};
bool take_text(void *document, const char *bytes, size_t count); /* false without memory */
/* Returns the document as bytes, or raises its failure. Frees the document. */
PyObject *document_value(struct document *document, enum nt_status status, const struct nt_error *error);

/* ---- the functions of the module, by file; documented in _ntuple.pyi ---- */

extern PyMethodDef file_functions[], dataset_functions[], stream_functions[], table_functions[];
