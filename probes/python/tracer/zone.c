// SPDX-License-Identifier: BSD-2-Clause
/*
 * with tracer.zone("name"): ...		a zone around a block
 * @tracer.traced or @tracer.traced("name")	a zone around every call of a function (__init__.py)
 *
 * A zone that was entered while nobody recorded is not ended when somebody does, and the other way
 * round: it counts how often it was entered open, since one object may be entered again and again,
 * also inside itself.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <tracer/tracer.h>
#include "_tracer.h"

struct zone {
	PyObject_HEAD
	PyObject *name;
	PyObject *text, *value, *color; /* or NULL */
	PyObject *traced; /* the function that it is of; NULL: it is where it is entered */
	unsigned int open;
};

static void traced__begin(PyObject *self);

static int zone__annotate(struct zone *zone)
{
	PyObject *owner = NULL;
	struct name text;

	if (zone->text) {
		if (name__take(&text, zone->text, &owner))
			return -1;
		TRACER_ZONE_TEXT(text.bytes);
		Py_XDECREF(owner);
	}
	if (zone->value) {
		if (PyLong_Check(zone->value)) {
			int64_t value = (int64_t)PyLong_AsUnsignedLongLongMask(zone->value);

			TRACER_ZONE_VALUE("value", value);
		} else {
			double value = PyFloat_AsDouble(zone->value);

			if (value == -1.0 && PyErr_Occurred())
				return -1;
			TRACER_ZONE_VALUE("value", value);
		}
	}
	if (zone->color) {
		unsigned long rgb = PyLong_AsUnsignedLongMask(zone->color);

		if (PyErr_Occurred())
			return -1;
		TRACER_ZONE_COLOR(rgb);
	}
	return 0;
}

static PyObject *zone__enter(PyObject *self, PyObject *none)
{
	struct zone *zone = (struct zone *)self;
	PyObject *owner;
	struct name name;

	(void)none;
	if (TRACER_ENABLED(zone) && zone->traced) {
		traced__begin(zone->traced);
		zone->open++;
	} else if (TRACER_ENABLED(zone)) {
		if (name__take(&name, zone->name, &owner))
			return NULL;
		zone__begin_here(&name);
		Py_XDECREF(owner);
		zone->open++;
		if ((zone->text || zone->value || zone->color) && zone__annotate(zone)) {
			TRACER_ZONE_END();
			zone->open--;
			return NULL;
		}
	}
	Py_INCREF(self);
	return self;
}

static PyObject *zone__exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	struct zone *zone = (struct zone *)self;

	(void)arguments, (void)count;
	if (zone->open) {
		zone->open--;
		TRACER_ZONE_END();
	}
	Py_RETURN_NONE;
}

static PyObject *optional(PyObject *object)
{
	if (!object || object == Py_None)
		return NULL;
	Py_INCREF(object);
	return object;
}

static struct zone *zone__make(PyTypeObject *type, PyObject *name, PyObject *text, PyObject *value,
			       PyObject *color)
{
	struct zone *zone = (struct zone *)type->tp_alloc(type, 0);

	if (!zone)
		return NULL;
	Py_INCREF(name);
	zone->name = name;
	zone->text = optional(text);
	zone->value = optional(value);
	zone->color = optional(color);
	return zone;
}

static PyObject *zone__new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"name", "text", "value", "color", NULL};
	PyObject *name, *text = NULL, *value = NULL, *color = NULL;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|$OOO:zone", names, &name, &text,
					 &value, &color))
		return NULL;
	return (PyObject *)zone__make(type, name, text, value, color);
}

/* zone("x"), which is nearly every call, without a tuple */
static PyObject *zone__vectorcall(PyObject *type, PyObject *const *arguments, size_t count,
				  PyObject *names)
{
	PyObject *all, *keywords = NULL, *result = NULL;
	Py_ssize_t plain = PyVectorcall_NARGS(count), i;

	if (plain == 1 && !names)
		return (PyObject *)zone__make((PyTypeObject *)type, arguments[0], NULL, NULL, NULL);
	all = PyTuple_New(plain);
	for (i = 0; all && i < plain; i++) {
		Py_INCREF(arguments[i]);
		PyTuple_SET_ITEM(all, i, arguments[i]);
	}
	if (all && names)
		keywords = PyDict_New();
	for (i = 0; keywords && i < PyTuple_GET_SIZE(names); i++) {
		if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), arguments[plain + i]))
			Py_CLEAR(keywords);
	}
	if (all && (keywords || !names))
		result = zone__new((PyTypeObject *)type, all, keywords);
	Py_XDECREF(all);
	Py_XDECREF(keywords);
	return result;
}

static void zone__dealloc(PyObject *self)
{
	struct zone *zone = (struct zone *)self;

	Py_XDECREF(zone->name);
	Py_XDECREF(zone->text);
	Py_XDECREF(zone->value);
	Py_XDECREF(zone->color);
	Py_XDECREF(zone->traced);
	Py_TYPE(self)->tp_free(self);
}

static PyMethodDef zone_methods[] = {
	{"__enter__", zone__enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)(void (*)(void))zone__exit, METH_FASTCALL, NULL},
	{NULL, NULL, 0, NULL},
};

static PyMemberDef zone_members[] = {
	{"name", T_OBJECT, offsetof(struct zone, name), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyTypeObject zone_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tracer.zone",
	.tp_doc = "zone(name, *, text=None, value=None, color=None)\n--\n\n"
		  "A zone around a block: with tracer.zone(\"name\"): ...\n\n"
		  "text, value (int or float) and color (0xrrggbb) annotate it.",
	.tp_basicsize = sizeof(struct zone),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = zone__new,
	.tp_vectorcall = zone__vectorcall,
	.tp_dealloc = zone__dealloc,
	.tp_methods = zone_methods,
	.tp_members = zone_members,
};

/* --- a function with a zone around every call -------------------------------------------------- */

struct traced {
	PyObject_HEAD
	vectorcallfunc call;
	PyObject *function, *name, *dict;
	PyObject *site_function, *site_where; /* keep the site's bytes */
	PyObject *name_owner;
	struct name zone;
	struct site site;
};

static PyObject *traced__call(PyObject *self, PyObject *const *arguments, size_t count,
			      PyObject *names)
{
	struct traced *traced = (struct traced *)self;
	PyObject *result;
	int open = TRACER_ENABLED(zone);

	if (!open)
		return PyObject_Vectorcall(traced->function, arguments, count, names);
	zone__begin(&traced->zone, &traced->site);
	result = PyObject_Vectorcall(traced->function, arguments, count, names);
	TRACER_ZONE_END();
	return result;
}

static void traced__begin(PyObject *self)
{
	struct traced *traced = (struct traced *)self;

	zone__begin(&traced->zone, &traced->site);
}

/* the same zone around what is more than a call: a coroutine or generator, from its first step on */
static PyObject *traced__zone(PyObject *self, PyObject *none)
{
	PyObject *name = ((struct traced *)self)->name;
	struct zone *zone = zone__make(&zone_type, name, NULL, NULL, NULL);

	(void)none;
	if (zone) {
		Py_INCREF(self);
		zone->traced = self;
	}
	return (PyObject *)zone;
}

/* _traced(function, name): both are kept; the site is where the function stands */
static PyObject *traced__new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"function", "name", NULL};
	PyObject *function, *name, *code;
	struct traced *traced;
	int err = 0;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OU:_traced", names, &function, &name))
		return NULL;
	traced = (struct traced *)type->tp_alloc(type, 0);
	if (!traced)
		return NULL;
	traced->call = traced__call;
	Py_INCREF(function);
	traced->function = function;
	Py_INCREF(name);
	traced->name = name;
	code = PyObject_GetAttrString(function, "__code__");
	if (code && PyCode_Check(code))
		err = site__of_code(&traced->site, code, ((PyCodeObject *)code)->co_firstlineno,
				    &traced->site_function, &traced->site_where);
	PyErr_Clear(); /* what is called need not be a Python function */
	Py_XDECREF(code);
	if (err)
		traced->site = (struct site){{0}, {0}};
	if (name__take(&traced->zone, name, &traced->name_owner)) {
		Py_DECREF(traced);
		return NULL;
	}
	return (PyObject *)traced;
}

static int traced__traverse(PyObject *self, visitproc visit, void *arg)
{
	struct traced *traced = (struct traced *)self;

	Py_VISIT(traced->function);
	Py_VISIT(traced->dict);
	return 0;
}

static int traced__clear(PyObject *self)
{
	struct traced *traced = (struct traced *)self;

	Py_CLEAR(traced->function);
	Py_CLEAR(traced->dict);
	return 0;
}

static void traced__dealloc(PyObject *self)
{
	struct traced *traced = (struct traced *)self;

	PyObject_GC_UnTrack(self);
	traced__clear(self);
	Py_XDECREF(traced->name);
	Py_XDECREF(traced->site_function);
	Py_XDECREF(traced->site_where);
	Py_XDECREF(traced->name_owner);
	Py_TYPE(self)->tp_free(self);
}

/* as a function's: bound to the object it is looked up on */
static PyObject *traced__bind(PyObject *self, PyObject *object, PyObject *type)
{
	(void)type;
	if (!object || object == Py_None) {
		Py_INCREF(self);
		return self;
	}
	return PyMethod_New(self, object);
}

/* what else is asked for is the function's: __defaults__, __code__, __signature__, ... */
static PyObject *traced__get(PyObject *self, PyObject *name)
{
	PyObject *found = PyObject_GenericGetAttr(self, name);

	if (found || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return found;
	PyErr_Clear();
	return PyObject_GetAttr(((struct traced *)self)->function, name);
}

static PyMemberDef traced_members[] = {
	{"__vectorcalloffset__", T_PYSSIZET, offsetof(struct traced, call), READONLY, NULL},
	{"__dictoffset__", T_PYSSIZET, offsetof(struct traced, dict), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyMethodDef traced_methods[] = {
	{"_zone", traced__zone, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static PyTypeObject traced_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tracer.traced_function",
	.tp_doc = "a function with a zone around every call; see tracer.traced",
	.tp_basicsize = sizeof(struct traced),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
		    Py_TPFLAGS_METHOD_DESCRIPTOR,
	.tp_new = traced__new,
	.tp_call = PyVectorcall_Call,
	.tp_vectorcall_offset = offsetof(struct traced, call),
	.tp_dictoffset = offsetof(struct traced, dict),
	.tp_traverse = traced__traverse,
	.tp_clear = traced__clear,
	.tp_dealloc = traced__dealloc,
	.tp_descr_get = traced__bind,
	.tp_getattro = traced__get,
	.tp_members = traced_members,
	.tp_methods = traced_methods,
};

int zone__add_types(PyObject *module)
{
	if (PyType_Ready(&zone_type) || PyType_Ready(&traced_type))
		return -1;
	Py_INCREF(&zone_type);
	if (PyModule_AddObject(module, "zone", (PyObject *)&zone_type))
		return -1;
	Py_INCREF(&traced_type);
	return PyModule_AddObject(module, "_traced", (PyObject *)&traced_type);
}
