/* SPDX-License-Identifier: MIT
 *
 * What the files of the extension module _ntuple share. Python has handles, capsules each of which holds a
 * reference to one of the structures here. These hold references to one another, and are counted without
 * Python, because Arrow streams are released by any thread at any time.
 *
 * A process that was forked has none of its parent's workers: the reader is made anew there, and what was
 * opened with the old one is left alone (see handles.c).
 */
#ifndef NTUPLE_PYTHON_MODULE_H
#define NTUPLE_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>
#include <sys/types.h>

#include <ntuple/ntuple.h>

struct reader {
    atomic_uint references;
    struct nt_reader *reader;
    struct nt_reader_options options;
    pid_t process; /* whose workers it has */
};

struct file {
    atomic_uint references;
    struct reader *reader;
    struct nt_file *file;
    PyObject *memory; /* which holds the bytes, or NULL */
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

/* The structure behind a handle; NULL with an exception where it is none of the kind. */
struct reader *reader_of(PyObject *handle);
struct file *file_of(PyObject *handle);
struct stream *stream_of(PyObject *handle);
struct table *table_of(PyObject *handle);

/* A handle of a structure, whose reference it takes; NULL with an exception, the reference is gone then, too.
 */
PyObject *reader_handle(struct reader *reader);
PyObject *file_handle(struct file *file);
PyObject *stream_handle(struct stream *stream);
PyObject *table_handle(struct table *table);

/* The file's reader, of this process; NULL with an exception. Holds the interpreter's lock. */
struct nt_reader *reader_here(struct reader *reader);

/* ---- errors.c ---- */

/* Raise what ntuple._errors makes of a failure. Always NULL. */
PyObject *raise_error(const struct nt_error *error);

/* ---- values.c ---- */

/* Text of a file as str: bytes that are not UTF-8 as lone surrogates. */
PyObject *text_value(struct nt_text text);
/* The dataset at a position of a file; NULL with an exception. */
struct nt_dataset *dataset_of(struct file *file, unsigned int index);
const struct nt_field *field_of(const struct nt_dataset *dataset, unsigned int index);
/* The memory of a NumPy array, one element behind the other; false with an exception. */
bool memory_of(PyObject *array, bool is_written, void **memory_ret, size_t *bytes_ret);

/* Text that is made without the interpreter's lock. */
struct document {
    char *bytes;
    size_t length, capacity;
};
bool take_text(void *document, const char *bytes, size_t count); /* false without memory */
/* The document as bytes, or its failure raised; frees it. */
PyObject *document_value(struct document *document, enum nt_status status, const struct nt_error *error);

/* ---- the functions of the module, by file; documented in _ntuple.pyi ---- */

extern PyMethodDef file_functions[], dataset_functions[], stream_functions[], table_functions[];

#endif
