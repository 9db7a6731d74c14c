// SPDX-License-Identifier: BSD-2-Clause
/*
 * The points of usdt/tracer/tracer.h for Python: `import tracer` takes everything from here.
 *
 * One function for each row of events.def, generated from it: task_begin(task, worker), counter(name,
 * value), ... Their arguments are converted only if somebody records: a closed point costs its call.
 *
 * Strings. A point writes down a string of run time by a key made of its bytes, and the bytes once a
 * window. Making keys is most of the cost, so they are kept for the strings (and call sites) that were
 * used last, in tables of fixed size that hold references: an address is never that of another string.
 *
 * Threads. All of this runs under the interpreter's lock, which also guards the tables; the rings are
 * the threads' own. A forked child goes on with its copies.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <string.h>
#include <tracer/tracer.h>
#include "_tracer.h"

/* --- strings ----------------------------------------------------------------------------------- */

#define NAMES 512U	    /* kept, a power of two */
#define NAME_KEPT_MAX 256 /* bytes; longer ones are not worth a reference */

static struct kept_name {
	PyObject *object;
	struct name name;
} kept_names[NAMES];

static void name__of_bytes(struct name *name, const char *bytes)
{
	name->bytes = bytes;
	name->key = tracer_name_key(bytes, tracer__length(bytes));
}

/* any object: a string's own bytes, else those of its str(), which @owner then keeps */
int name__take(struct name *name, PyObject *object, PyObject **owner)
{
	struct kept_name *kept = &kept_names[((uintptr_t)object >> 4) & (NAMES - 1)];
	Py_ssize_t size;
	const char *bytes;

	*owner = NULL;
	*name = (struct name){0};
	if (object == Py_None)
		return 0;
	if (kept->object == object) {
		*name = kept->name;
		return 0;
	}
	if (!PyUnicode_Check(object)) {
		object = *owner = PyObject_Str(object);
		if (!object)
			return -1;
	}
	bytes = PyUnicode_AsUTF8AndSize(object, &size);
	if (!bytes) {
		/* lone surrogates have no UTF-8: the point shows that there was something */
		PyErr_Clear();
		bytes = "(not UTF-8)";
		size = NAME_KEPT_MAX + 1;
	}
	name__of_bytes(name, bytes);
	if (size <= NAME_KEPT_MAX && !*owner) {
		Py_INCREF(object);
		Py_XSETREF(kept->object, object);
		kept->name = *name;
	}
	return 0;
}

/* --- call sites -------------------------------------------------------------------------------- */

#define SITES 1024U

static struct kept_site {
	PyObject *code;
	int at; /* instruction */
	PyObject *function, *where;
	struct site site;
} kept_sites[SITES];

static PyObject *code__function(PyObject *code)
{
	PyObject *name = PyObject_GetAttrString(code, "co_qualname");

	if (name)
		return name;
	PyErr_Clear(); /* before Python 3.11 */
	return PyObject_GetAttrString(code, "co_name");
}

int site__of_code(struct site *site, PyObject *code, int line, PyObject **function,
		  PyObject **where)
{
	const char *function_bytes = NULL, *where_bytes = NULL;

	*function = code__function(code);
	*where = *function ? PyUnicode_FromFormat("%U:%d", ((PyCodeObject *)code)->co_filename, line)
			   : NULL;
	if (*where) {
		function_bytes = PyUnicode_AsUTF8(*function);
		where_bytes = PyUnicode_AsUTF8(*where);
	}
	if (!function_bytes || !where_bytes) {
		Py_CLEAR(*function);
		Py_CLEAR(*where);
		return -1;
	}
	name__of_bytes(&site->function, function_bytes);
	name__of_bytes(&site->where, where_bytes);
	return 0;
}

/* where the function stands that calls us */
static void site__of_caller(struct site *site)
{
	PyFrameObject *frame = PyEval_GetFrame();
	struct kept_site *kept;
	PyObject *code, *function, *where;
	int at;

	*site = (struct site){0};
	if (!frame)
		return;
	code = (PyObject *)PyFrame_GetCode(frame);
#if PY_VERSION_HEX >= 0x030b0000
	at = PyFrame_GetLasti(frame);
#else
	at = PyFrame_GetLineNumber(frame);
#endif
	kept = &kept_sites[((uintptr_t)code >> 4 ^ (unsigned int)at) & (SITES - 1)];
	if (kept->code == code && kept->at == at) {
		*site = kept->site;
		Py_DECREF(code);
		return;
	}
	if (site__of_code(site, code, PyFrame_GetLineNumber(frame), &function, &where)) {
		PyErr_Clear();
		*site = (struct site){0};
		Py_DECREF(code);
		return;
	}
	kept->at = at;
	kept->site = *site;
	Py_XSETREF(kept->code, code);
	Py_XSETREF(kept->function, function);
	Py_XSETREF(kept->where, where);
}

/* --- points with strings of run time ----------------------------------------------------------- */

#define ONE_STRING 1U	 /* of the three words, the first */
#define SECOND_STRING 2U
#define THREE_STRINGS 7U

void zone__begin(const struct name *name, const struct site *site)
{
	uint32_t gate = TRACER__GATE(tracer__in_zone);

	if (gate & TRACER_GATE_DIRECT)
		tracer__zone_begin_at(gate & TRACER_GATE_DIRECT, name->bytes, site->function.bytes,
				      site->where.bytes);
	if (gate & TRACER_GATE_RECORDED)
		tracer__record_keyed(160, 32, THREE_STRINGS, TRACER__BY_RUNNING,
				     (uintptr_t)name->bytes, (uintptr_t)site->function.bytes,
				     (uintptr_t)site->where.bytes, name->key, site->function.key,
				     site->where.key);
}

void zone__begin_here(const struct name *name)
{
	struct site site;

	site__of_caller(&site);
	zone__begin(name, &site);
}

/* --- one function a row of events.def ---------------------------------------------------------- */

/* What an argument becomes; `has` tells whether it was given. On an error, the point is left out. */
struct argument {
	struct name name;
	PyObject *owner; /* of the name's bytes */
	uint64_t bits;
	double real;
	int is_real;
};

static int argument__integer(struct argument *to, PyObject *object)
{
	to->bits = PyLong_AsUnsignedLongLongMask(object);
	return to->bits == (uint64_t)-1 && PyErr_Occurred() ? -1 : 0;
}

/* an identity: None is none, an integer itself, any other object its address */
static int argument__id(struct argument *to, PyObject *object)
{
	if (!object || object == Py_None)
		return 0;
	if (PyLong_Check(object))
		return argument__integer(to, object);
	to->bits = (uintptr_t)object;
	return 0;
}

static int argument__u64(struct argument *to, PyObject *object)
{
	if (!object || object == Py_None) {
		to->bits = TRACER_UNKNOWN;
		return 0;
	}
	return argument__integer(to, object);
}

static int argument__u32(struct argument *to, PyObject *object)
{
	if (!object || object == Py_None) {
		to->bits = TRACER_NO_WORKER;
		return 0;
	}
	return argument__integer(to, object);
}

static int argument__str(struct argument *to, PyObject *object)
{
	return name__take(&to->name, object ? object : Py_None, &to->owner);
}

static int argument__lit(struct argument *to, PyObject *object)
{
	return argument__str(to, object);
}

static int argument__num(struct argument *to, PyObject *object)
{
	int overflow = 0;

	if (!object) {
		PyErr_SetString(PyExc_TypeError, "a value is missing");
		return -1;
	}
	if (PyLong_Check(object)) {
		to->bits = (uint64_t)PyLong_AsLongLongAndOverflow(object, &overflow);
		if (!overflow)
			return to->bits == (uint64_t)-1 && PyErr_Occurred() ? -1 : 0;
	}
	/* also an integer of more than 63 bits: roughly right is better than another number */
	to->is_real = 1;
	to->real = PyFloat_AsDouble(object);
	if (to->real == -1.0 && PyErr_Occurred()) {
		if (!overflow)
			return -1;
		PyErr_Clear(); /* more than 1,024 bits */
		to->real = overflow > 0 ? HUGE_VAL : -HUGE_VAL;
	}
	to->bits = tracer__bits(to->real);
	return 0;
}

/* conversion of an out-of-range double is not defined, and a direct probe may see any */
static int64_t argument__rounded(const struct argument *from)
{
	if (!from->is_real)
		return (int64_t)from->bits;
	return from->real >= -9.2e18 && from->real <= 9.2e18 ? (int64_t)from->real : 0;
}

#define GIVE_id(a) (a).bits
#define GIVE_u64(a) (a).bits
#define GIVE_u32(a) (uint32_t)(a).bits
#define GIVE_str(a) (a).name.bytes
#define GIVE_lit(a) (a).name.bytes
#define GIVE_num(a) (a).bits, (uint32_t)(a).is_real, argument__rounded(&(a))
#define AT(k) ((k) < count ? objects[k] : NULL)

static int count__check(const char *name, Py_ssize_t count, Py_ssize_t most)
{
	if (count <= most)
		return 0;
	PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments (%zd given)", name, most, count);
	return -1;
}

#define POINT_BEGIN(name, most)                                                                \
	static PyObject *point__##name(PyObject *module, PyObject *const *objects, Py_ssize_t count) \
	{                                                                                      \
		uint32_t gate = TRACER__GATE(CATEGORY_##name);                                 \
		struct argument a[4] = {{{0}, NULL, 0, 0, 0}};                                 \
		int err = 0;                                                                   \
		(void)module, (void)objects;                                                   \
		if (count__check(#name, count, most))                                          \
			return NULL;                                                           \
		if (!gate)                                                                     \
			Py_RETURN_NONE;
#define POINT_END()                                    \
	for (int i = 0; i < 4; i++)                    \
		Py_XDECREF(a[i].owner);                \
	if (err)                                       \
		return NULL;                           \
	Py_RETURN_NONE;                                \
	}

/* the rows' categories are words of ours; a gate needs them by the event's name */
enum event_category {
#define TRACER_EVENT0(number, name, category, ...) CATEGORY_##name = tracer__in_##category,
#define TRACER_EVENT1 TRACER_EVENT0
#define TRACER_EVENT2 TRACER_EVENT0
#define TRACER_EVENT3 TRACER_EVENT0
#define TRACER_EVENT4 TRACER_EVENT0
#include <tracer/events.def>
};

#define TRACER_EVENT0(number, name, category, by, doc) \
	POINT_BEGIN(name, 0)                           \
	tracer__##name(gate);                          \
	POINT_END()
#define TRACER_EVENT1(number, name, category, by, t1, n1, doc) \
	POINT_BEGIN(name, 1)                                   \
	err = argument__##t1(&a[0], AT(0));                    \
	if (!err)                                              \
		tracer__##name(gate, GIVE_##t1(a[0]));         \
	POINT_END()
#define TRACER_EVENT2(number, name, category, by, t1, n1, t2, n2, doc)                  \
	POINT_BEGIN(name, 2)                                                            \
	err = argument__##t1(&a[0], AT(0)) || argument__##t2(&a[1], AT(1));             \
	if (!err)                                                                       \
		tracer__##name(gate, GIVE_##t1(a[0]), GIVE_##t2(a[1]));                 \
	POINT_END()
#define TRACER_EVENT3(number, name, category, by, t1, n1, t2, n2, t3, n3, doc)          \
	POINT_BEGIN(name, 3)                                                            \
	err = argument__##t1(&a[0], AT(0)) || argument__##t2(&a[1], AT(1)) ||           \
	      argument__##t3(&a[2], AT(2));                                             \
	if (!err)                                                                       \
		tracer__##name(gate, GIVE_##t1(a[0]), GIVE_##t2(a[1]), GIVE_##t3(a[2])); \
	POINT_END()
#define TRACER_EVENT4(number, name, category, by, t1, n1, t2, n2, t3, n3, t4, n4, doc)  \
	POINT_BEGIN(name, 4)                                                            \
	err = argument__##t1(&a[0], AT(0)) || argument__##t2(&a[1], AT(1)) ||           \
	      argument__##t3(&a[2], AT(2)) || argument__##t4(&a[3], AT(3));             \
	if (!err)                                                                       \
		tracer__##name(gate, GIVE_##t1(a[0]), GIVE_##t2(a[1]), GIVE_##t3(a[2]), \
			       GIVE_##t4(a[3]));                                        \
	POINT_END()
#include <tracer/events.def>

/* --- those that are more than their row -------------------------------------------------------- */

/* zone_begin(name): in the caller; the row's own takes literals */
static PyObject *module__zone_begin(PyObject *module, PyObject *object)
{
	PyObject *owner;
	struct name name;

	(void)module;
	if (TRACER__GATE(tracer__in_zone)) {
		if (name__take(&name, object, &owner))
			return NULL;
		zone__begin_here(&name);
		Py_XDECREF(owner);
	}
	Py_RETURN_NONE;
}

/* marker_set(channel, name, extra=None): as its row, with the name's key */
static PyObject *module__marker_set(PyObject *module, PyObject *const *objects, Py_ssize_t count)
{
	uint32_t gate = TRACER__GATE(tracer__in_marker);
	struct argument channel = {.bits = 0}, name = {.bits = 0}, extra = {.bits = 0};
	int err;

	(void)module;
	if (count < 2 || count > 3) {
		PyErr_Format(PyExc_TypeError, "marker_set() takes channel, name and extra (%zd given)", count);
		return NULL;
	}
	if (!gate)
		Py_RETURN_NONE;
	err = argument__u32(&channel, objects[0]) || argument__u64(&extra, AT(2)) ||
	      argument__str(&name, objects[1]);
	if (!err && gate & TRACER_GATE_DIRECT)
		tracer__marker_set(gate & TRACER_GATE_DIRECT, (uint32_t)channel.bits, name.name.bytes,
				   extra.bits);
	if (!err && gate & TRACER_GATE_RECORDED)
		tracer__record_keyed(96, 32, SECOND_STRING, 0, (uint32_t)channel.bits,
				     (uintptr_t)name.name.bytes, extra.bits, 0, name.name.key, 0);
	Py_XDECREF(name.owner);
	if (err)
		return NULL;
	Py_RETURN_NONE;
}

/* counter(name, value) */
static PyObject *module__counter(PyObject *module, PyObject *const *objects, Py_ssize_t count)
{
	uint32_t gate = TRACER__GATE(tracer__in_counter);
	struct argument name = {.bits = 0}, value = {.bits = 0};
	int err;

	(void)module;
	if (count != 2) {
		PyErr_Format(PyExc_TypeError, "counter() takes name and value (%zd given)", count);
		return NULL;
	}
	if (!gate)
		Py_RETURN_NONE;
	err = argument__num(&value, objects[1]) || argument__str(&name, objects[0]);
	if (!err && gate & TRACER_GATE_DIRECT)
		tracer__counter(gate & TRACER_GATE_DIRECT, name.name.bytes, GIVE_num(value));
	if (!err && gate & TRACER_GATE_RECORDED)
		tracer__record_keyed(112 + (uint32_t)value.is_real, 24, ONE_STRING, 0,
				     (uintptr_t)name.name.bytes, value.bits, 0, name.name.key, 0, 0);
	Py_XDECREF(name.owner);
	if (err)
		return NULL;
	Py_RETURN_NONE;
}

/* capture_off() and capture_on() also stop this library's own records, as the macros do */
static PyObject *module__capture_off(PyObject *module, PyObject *none)
{
	(void)module, (void)none;
	TRACER_CAPTURE_OFF();
	Py_RETURN_NONE;
}

static PyObject *module__capture_on(PyObject *module, PyObject *none)
{
	(void)module, (void)none;
	TRACER_CAPTURE_ON();
	Py_RETURN_NONE;
}

static PyObject *module__enabled(PyObject *module, PyObject *object)
{
	static const struct {
		const char *name;
		int category;
	} categories[] = {
#define TRACER_CATEGORY(number, name, doc) {#name, number},
#include <tracer/events.def>
	};
	const char *wanted = PyUnicode_AsUTF8(object);

	(void)module;
	if (!wanted)
		return NULL;
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++)
		if (!strcmp(categories[i].name, wanted))
			return PyBool_FromLong(__atomic_load_n(
				&tracer_v1_gates.gate[categories[i].category], __ATOMIC_RELAXED) != 0);
	PyErr_Format(PyExc_ValueError, "no category '%s'; task, worker, steal, future, lock, zone, "
				       "marker, flow, counter, message, frame", wanted);
	return NULL;
}

static PyMethodDef points[] = {
#define ROW(name, doc) {#name, (PyCFunction)(void (*)(void))point__##name, METH_FASTCALL, doc},
#define TRACER_EVENT0(number, name, category, by, doc) ROW(name, #name "()\n--\n\n" doc)
#define TRACER_EVENT1(number, name, category, by, t1, n1, doc) \
	ROW(name, #name "(" #n1 "=None, /)\n--\n\n" doc)
#define TRACER_EVENT2(number, name, category, by, t1, n1, t2, n2, doc) \
	ROW(name, #name "(" #n1 "=None, " #n2 "=None, /)\n--\n\n" doc)
#define TRACER_EVENT3(number, name, category, by, t1, n1, t2, n2, t3, n3, doc) \
	ROW(name, #name "(" #n1 "=None, " #n2 "=None, " #n3 "=None, /)\n--\n\n" doc)
#define TRACER_EVENT4(number, name, category, by, t1, n1, t2, n2, t3, n3, t4, n4, doc) \
	ROW(name, #name "(" #n1 "=None, " #n2 "=None, " #n3 "=None, " #n4 "=None, /)\n--\n\n" doc)
#include <tracer/events.def>
	{NULL, NULL, 0, NULL},
};

/* take the places of rows above */
static PyMethodDef others[] = {
	{"zone_begin", module__zone_begin, METH_O,
	 "zone_begin(name, /)\n--\n\na stretch of code, from here in the calling function to zone_end()"},
	{"marker_set", (PyCFunction)(void (*)(void))module__marker_set, METH_FASTCALL,
	 "marker_set(channel, name, extra=None, /)\n--\n\n"
	 "opens a marker on a channel, and ends the one before"},
	{"counter", (PyCFunction)(void (*)(void))module__counter, METH_FASTCALL,
	 "counter(name, value, /)\n--\n\na sample of an integer or a float"},
	{"capture_off", module__capture_off, METH_NOARGS,
	 "capture_off()\n--\n\nthis process shows nothing until capture_on()"},
	{"capture_on", module__capture_on, METH_NOARGS,
	 "capture_on()\n--\n\nand shows what it does again"},
	{"enabled", module__enabled, METH_O,
	 "enabled(category, /)\n--\n\nTrue while that category is recorded, or a tool is attached to it"},
	{NULL, NULL, 0, NULL},
};

static int module__exec(PyObject *module)
{
	if (PyModule_AddFunctions(module, points) || PyModule_AddFunctions(module, others) ||
	    zone__add_types(module) || PyModule_AddIntConstant(module, "NO_WORKER", TRACER_NO_WORKER))
		return -1;
	/* takes a literal of this library, as zone_begin()'s row does */
	if (PyObject_DelAttrString(module, "zone_end_at"))
		return -1;
	return PyModule_AddObject(module, "UNKNOWN", PyLong_FromUnsignedLongLong(TRACER_UNKNOWN));
}

static PyModuleDef_Slot slots[] = {
	{Py_mod_exec, (void *)module__exec},
	{0, NULL},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tracer._tracer",
	.m_doc = "Points for tracer, a scheduler tracer; see the package tracer.",
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit__tracer(void)
{
	return PyModuleDef_Init(&definition);
}
