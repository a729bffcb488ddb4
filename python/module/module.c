/* SPDX-License-Identifier: MIT
 *
 * The extension module _ntuple: libntuple's public functions for the Python of package ntuple, which is where
 * their users are. Stable ABI: one build serves all versions of Python from 3.9 on.
 */
#include "module.h"

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_ntuple",
    .m_doc = "Private implementation of the package ntuple.",
    .m_size = 0,
};

/* Initialized in one phase: two slots would need function pointers as data pointers, which ISO C does
 * not allow. There is no state that several interpreters could share. */
PyMODINIT_FUNC PyInit__ntuple(void);
PyMODINIT_FUNC PyInit__ntuple(void)
{
    PyMethodDef *const tables[] = {file_functions, dataset_functions, stream_functions, table_functions};
    PyObject *module = PyModule_Create(&definition);
    for (size_t i = 0; module && i < sizeof(tables) / sizeof(*tables); i++)
        if (PyModule_AddFunctions(module, tables[i]) != 0)
            Py_CLEAR(module);
    return module;
}
