/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the module. */
#ifndef TRACER_PYTHON_H
#define TRACER_PYTHON_H

#include <Python.h>
#include <stdint.h>

/* a string as points take it: bytes, and the key that is made of them; NULL and 0: none */
struct name {
	const char *bytes;
	uint64_t key;
};

/* where a zone begins: function, and file:line */
struct site {
	struct name function, where;
};

/*
 * name__take() - the name that @object is
 * @owner: receives what must be kept as long as the bytes are used, besides @object; or NULL
 * Returns 0, or -1 with an exception set.
 */
int name__take(struct name *name, PyObject *object, PyObject **owner);
/* @function, @where: receive what keeps the site's bytes; 0, or -1 with an exception set */
int site__of_code(struct site *site, PyObject *code, int line, PyObject **function,
		  PyObject **where);

void zone__begin(const struct name *name, const struct site *site);
/* in the Python function that is running */
void zone__begin_here(const struct name *name);

/* zone.c: the types zone and traced function; 0, or -1 with an exception set */
int zone__add_types(PyObject *module);

#endif /* TRACER_PYTHON_H */
