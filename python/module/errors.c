/* SPDX-License-Identifier: MIT
 *
 * Failures of the library as exceptions: ntuple._errors has the table of classes.
 */
#include <string.h>

#include "module.h"

static PyObject *make_exception(PyObject *errors, const struct nt_error *error)
{
    long long offset = error->offset == NT_NO_OFFSET ? -1 : (long long)error->offset;
    return PyObject_CallMethod(errors, "make", "sNLiss", nt_status_name(error->status),
                               text_value((struct nt_text){error->message, strlen(error->message)}), offset,
                               error->system_error, error->expected, error->found);
}

PyObject *raise_error(const struct nt_error *error)
{
    PyObject *errors = PyImport_ImportModule("ntuple._errors");
    PyObject *exception = errors ? make_exception(errors, error) : NULL;
    if (exception)
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_XDECREF(exception);
    Py_XDECREF(errors);
    return NULL;
}
