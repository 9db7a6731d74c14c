// SPDX-License-Identifier: BSD-2-Clause
/* Probe specs: what is read, what is refused and where, what is compiled. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "spec/compile.h"
#include "spec/insn.h"
#include "spec/operand.h"
#include "spec/spec.h"

/* --- mistakes --------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	const char *where; /* line:column */
	const char *what;  /* part of the sentence */
} mistakes[] = {
	{"", "1:1", "no probe"},
	{"# nothing\n", "2:1", "no probe"},
	{"prob f => task_end(arg0)\n", "1:1", "'prob' begins no statement"},
	{"probe\n", "1:6", "the name is missing"},
	{"probe f\n", "2:1", "expected =>"},
	{"probe f task_end(arg0)\n", "1:9", "expected =>"},
	{"probe f => task_stop(arg0)\n", "1:12", "'task_stop' is no event"},
	{"probe f => task_end(arg0, 1)\n", "1:27", "task_end has 1 argument"},
	{"probe f => task_end(arg0\n", "2:1", "expected , or )"},
	{"probe f => task_end(arg99)\n", "1:21", "arg0 to arg15"},
	{"probe f => task_end(name)\n", "1:21", "'name' is not known"},
	{"probe f => task_end(\"x\")\n", "1:21", "is a number, and this is a string"},
	{"probe f => task_created(arg0, arg1)\n", "1:31", "is a string (str[...]"},
	{"probe f => task_end(retval)\n", "1:21", "only at a return"},
	{"return f => task_end(arg0)\n", "1:22", "write entry(arg0)"},
	{"probe f => task_end(entry(arg0))\n", "1:21", "for return probes"},
	{"return f => task_end(entry(entry(arg0)))\n", "1:28", "entry() inside entry()"},
	{"return f+4 => task_end(retval)\n", "1:1", "a return has no offset"},
	{"probe f => task_end(%zax)\n", "1:21", "%zax is no register"},
	{"probe f => task_end(str[arg0])\n", "1:21", "is a number, and this is a string"},
	{"probe f => task_end(u24[arg0])\n", "1:21", "'u24[...]' is not known"},
	{"probe f => task_end(u64[arg0, 2])\n", "1:31", "only str[address, length]"},
	{"probe f => task_end(foo(arg0))\n", "1:21", "'foo(...)' is not known"},
	{"probe f if \"x\" => task_end(arg0)\n", "1:12", "a number is needed"},
	{"probe f => x = \"y\"\n", "1:16", "a number is needed"},
	{"probe f => forget x[1]\n", "1:12", "nothing is kept as x[...]"},
	{"probe f => x = 1; x[2] = 1\n", "1:19", "is something else already"},
	{"probe f => arg1 = 1\n", "1:12", "has a meaning of its own"},
	{"probe f => task_end(1 +)\n", "1:24", "expected a value"},
	{"probe f => task_end(0x)\n", "1:21", "not a number"},
	{"probe f => task_end(99999999999999999999)\n", "1:21", "more than 64 bits"},
	{"probe f => task_end(\"a)\n", "1:21", "does not end on this line"},
	{"probe f => message(\"\\q\")\n", "1:20", "after \\ in a string"},
	{"probe /f(/ => task_end(arg0)\n", "1:7", "not a regular expression"},
	{"probe /f => task_end(arg0)\n", "1:7", "does not end on this line"},
	{"probe f => task_end(arg0) x\n", "1:27", "the line should end here"},
	{"usdt f => task_end(arg0)\n", "1:6", "PROVIDER:NAME"},
	{"tracepoint a:b => task_end(arg0)\n", "1:28", "fields, not arguments"},
	{"const x\nprobe f => task_end(x)\n", "1:8", "expected ="},
	{"const x = dwarf y\nprobe f => task_end(x)\n", "1:17", "expected TYPE.MEMBER"},
	{"const x = 1.2 3\nprobe f => task_end(x)\n", "1:15", "expected :"},
	{"const x = 1\nconst x = 2\nprobe f => task_end(x)\n", "2:7",
	 "is there already, in line 1"},
	{"enum e { 1 = 2 }\nprobe f => message(e[1])\n", "1:14", "expected a string"},
	{"enum e { 1 = \"x\"\nprobe f => message(e[1])\n", "2:1", "expected , or }"},
	{"enum e { 5000 = \"x\" }\nprobe f => message(e[1])\n", "1:6", "0 to 1023"},
	{"enum e { 1 = \"x\" }\nprobe f => message(e)\n", "2:20", "needs [...]"},
	{"let a = b\nlet b = a\nprobe f => task_end(a)\n", "2:9", "is defined by itself"},
	{"abi pascal\nprobe f => task_end(arg0)\n", "1:5", "expected c or go"},
	{"priority 10\nprobe f => task_end(arg0)\n", "1:12", "0 (left out first) to 9"},
	{"recognize smell x\nprobe f => task_end(arg0)\n", "1:11", "recognised by a symbol"},
	{"version java\nprobe f => task_end(arg0)\n", "1:9", "expected go, or file"},
	{"runtime Go!\nprobe f => task_end(arg0)\n", "1:9", "small letters"},
	{"probe f => zone_begin(\"x\", \"y\")\n", "1:28", "cannot come from a spec"},
	{"probe f => task_end(arg0 ? 1 : \"x\")\n", "1:32", "one of the two"},
	{"probe f @ => task_end(arg0)\n", "1:9", "'@' means nothing here"},
	{"return f => task_end(entry(arg0)+entry(arg1)+entry(arg2)+entry(arg3)+entry(arg4))\n",
	 "1:70", "more than 4 entry()"},
};

static void a_mistake_is_refused_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		char *err = NULL, place[64];
		struct spec *spec = spec__parse("x.probes", mistakes[i].text, &err);

		if (spec || !err)
			fail_msg("taken: %s", mistakes[i].text);
		snprintf(place, sizeof(place), "x.probes:%s: ", mistakes[i].where);
		if (strncmp(err, place, strlen(place)) != 0 || !strstr(err, mistakes[i].what))
			fail_msg("%s\nwanted: %s%s\ngot:    %s", mistakes[i].text, place,
				 mistakes[i].what, err);
		free(err);
	}
}

static void a_caret_stands_under_the_mistake(void **state)
{
	char *err = NULL;

	(void)state;
	assert_null(spec__parse("x", "probe f\n\tif arg0 => task_stop(1)\n", &err));
	assert_string_equal(err, "x:2:13: 'task_stop' is no event; the events are in "
				 "usdt/tracer/events.def, and tracer list --events names them\n"
				 "\tif arg0 => task_stop(1)\n\t           ^");
	free(err);
}

static void deep_and_long_expressions_are_refused(void **state)
{
	char *text = malloc(200000), *at = text, *err = NULL;
	int i;

	(void)state;
	at = stpcpy(at, "probe f => task_end(");
	for (i = 0; i < 50000; i++)
		*at++ = '(';
	strcpy(at, "1\n");
	assert_null(spec__parse("x", text, &err));
	assert_non_null(strstr(err, "too deeply nested"));
	free(err);
	at = stpcpy(text, "probe f => task_end(1");
	for (i = 0; i < 50000; i++)
		at = stpcpy(at, "+1");
	strcpy(at, ")\n");
	assert_null(spec__parse("x", text, &err));
	assert_non_null(strstr(err, "too long an expression"));
	free(err);
	/* lets double what they use */
	at = stpcpy(text, "let a0 = arg0 + arg1\n");
	for (i = 1; i < 60; i++)
		at += sprintf(at, "let a%d = a%d + a%d\n", i, i - 1, i - 1);
	strcpy(at, "probe f => task_end(a59)\n");
	assert_null(spec__parse("x", text, &err));
	assert_non_null(strstr(err, "too long an expression"));
	free(err);
	free(text);
}

/* --- the specs that come with the command ----------------------------------------------------- */

static void every_spec_of_ours_is_read(void **state)
{
	const struct spec_builtin *builtin;
	char *err = NULL;
	size_t i;

	(void)state;
	for (i = 0; (builtin = spec_builtin__at(i)); i++) {
		struct spec *spec = spec__parse(builtin->name, builtin->text, &err);

		if (!spec)
			fail_msg("%s", err);
		assert_string_equal(spec->name, builtin->name);
		assert_non_null(spec->recognisers);
		assert_true(*spec->doc);
		spec__free(spec);
	}
	assert_true(i >= 9);
	assert_null(spec_builtin__find("cobol"));
}

/* --- compiling -------------------------------------------------------------------------------- */

static uint32_t number_text(void *ctx, const char *const *texts, uint32_t count)
{
	uint32_t *next = ctx, first = *next;

	(void)texts;
	*next += count;
	return first;
}

static struct spec_code compiled(const char *text, const char *args, uint64_t version)
{
	struct symbols *symbols;
	struct spec_code code = {0};
	uint32_t texts = 0;
	char *err = NULL;
	struct spec *spec = spec__parse("x", text, &err);

	if (!spec)
		fail_msg("%s", err);
	symbols = symbols__open("/proc/self/exe", "", &err);
	assert_non_null(symbols);
	{
		struct site site = {
			.spec = spec,
			.probe = spec->probes,
			.symbols = symbols,
			.version = version,
			.args = args,
			.categories = UINT32_MAX,
			.text = number_text,
			.ctx = &texts,
		};

		if (compile__site(&code, &site))
			fail_msg("%s", site.why);
	}
	symbols__close(symbols);
	spec__free(spec);
	return code;
}

static void a_constant_is_the_one_of_the_version(void **state)
{
	static const char text[] = "const x = dwarf nobody.has, 1.17: 10, 1.21: 30, 1.20: 20\n"
				   "probe f => task_end(x)\n";
	const struct {
		const char *version;
		uint64_t value;
	} cases[] = {{"1.17", 10},    {"1.19.8", 10}, {"1.20", 20},
		     {"1.20.99", 20}, {"1.22", 30},   {"2", 30}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct spec_code code = compiled(
			text, NULL, version__parse(cases[i].version, strlen(cases[i].version)));

		assert_int_equal(code.all[0].op, OP_PUSH);
		assert_int_equal(code.all[0].imm, cases[i].value);
		free(code.all);
	}
}

static void offsets_and_constants_are_folded(void **state)
{
	struct spec_code code =
		compiled("const a = 8\nprobe f => task_end(u64[arg0 + a * 2])\n", NULL, 0);

	(void)state;
	assert_int_equal(code.count, 5);
	assert_int_equal(code.all[1].op, OP_LOAD);
	assert_int_equal(code.all[1].imm, 16);
	assert_int_equal(code.all[3].op, OP_EMIT);
	assert_int_equal(code.all[4].op, OP_END);
	free(code.all);
}

static void an_event_left_short_gets_its_defaults(void **state)
{
	struct spec_code code = compiled("probe f => task_begin(arg0)\n", NULL, 0);

	(void)state;
	assert_int_equal(code.all[2].op, OP_WORKER);
	free(code.all);
}

/* the machine's stack is bounded, and what needs more of it is refused instead of computed wrongly
 */
static void an_expression_that_is_too_deep_is_refused(void **state)
{
	struct symbols *symbols = symbols__open("/proc/self/exe", "", NULL);
	char text[512] = "probe f => task_end(", *at = text + strlen(text);
	struct spec_code code = {0};
	struct spec *spec;
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		at = stpcpy(at, "arg0 + (");
	at = stpcpy(at, "arg1");
	for (i = 0; i < 20; i++)
		*at++ = ')';
	strcpy(at, ")\n");
	spec = spec__parse("x", text, NULL);
	assert_non_null(spec);
	{
		struct site site = {
			.spec = spec, .probe = spec->probes, .symbols = symbols, .categories = 1};

		assert_int_equal(compile__site(&code, &site), -EINVAL);
		assert_non_null(strstr(site.why, "more than 16 values at once"));
		assert_int_equal(code.count, 0);
		free(site.why);
	}
	free(code.all);
	spec__free(spec);
	symbols__close(symbols);
}

/* --- USDT operands ---------------------------------------------------------------------------- */

static void operands_are_read_in_all_their_forms(void **state)
{
	const char *args =
		"-4@$-7 8@%rax -2@%cx 1@%ah 8@-20(%rbp) 4@8(%rax,%rbx,4) 8@(,%rcx,8) "
		"8@counter(%rip) 4@counter+16(%rip) 8@16+counter(%rip) -8@table(,%rdx,8) "
		"8@%r15 4@%r9d 8f@%xmm0 8@%fs:x@tpoff 4@$0x10";
	struct operand operand;

	(void)state;
	assert_int_equal(operand__count(args), 16);
#define READ(n) assert_int_equal(operand__parse(EM_X86_64, args, n, &operand), 0)
	READ(0);
	assert_int_equal(operand.kind, OPERAND_CONSTANT);
	assert_int_equal(operand.number, -7);
	assert_true(operand.is_signed);
	READ(1);
	assert_int_equal(operand.base, 10);
	READ(2);
	assert_int_equal(operand.base, 11);
	assert_int_equal(operand.size, 2);
	READ(3);
	assert_int_equal(operand.shift, 8);
	READ(4);
	assert_int_equal(operand.kind, OPERAND_MEMORY);
	assert_int_equal(operand.number, -20);
	assert_int_equal(operand.base, 4);
	READ(5);
	assert_int_equal(operand.index, 5);
	assert_int_equal(operand.scale, 4);
	assert_int_equal(operand.number, 8);
	READ(6);
	assert_int_equal(operand.base, OPERAND_NONE);
	assert_int_equal(operand.index, 11);
	READ(7);
	assert_string_equal(operand.symbol, "counter");
	assert_true(operand.rip);
	READ(8);
	assert_int_equal(operand.number, 16);
	READ(9);
	assert_int_equal(operand.number, 16);
	assert_string_equal(operand.symbol, "counter");
	READ(10);
	assert_string_equal(operand.symbol, "table");
	assert_int_equal(operand.index, 12);
	READ(11);
	assert_int_equal(operand.base, 0);
	READ(12);
	assert_int_equal(operand.base, 8);
	assert_int_equal(operand__parse(EM_X86_64, args, 13, &operand), -ENOTSUP);
	assert_int_equal(operand__parse(EM_X86_64, args, 14, &operand), -ENOTSUP);
	READ(15);
	assert_int_equal(operand.number, 16);
	assert_int_equal(operand__parse(EM_X86_64, args, 16, &operand), -ENOENT);
#undef READ
	assert_int_equal(operand__parse(EM_AARCH64, "-4@[sp, 12] 8@x3 4@5", 0, &operand), 0);
	assert_int_equal(operand.base, 31);
	assert_int_equal(operand.number, 12);
	assert_int_equal(operand__parse(EM_AARCH64, "-4@[sp, 12] 8@x3 4@5", 1, &operand), 0);
	assert_int_equal(operand.base, 3);
	assert_int_equal(operand__count(""), 0);
}

/* --- instructions ----------------------------------------------------------------------------- */

static void instructions_have_their_lengths(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t len;
		enum insn_kind kind;
		enum insn_cost cost;
	} cases[] = {
		{"\x90", 1, INSN_OTHER, INSN_EMULATED},
		{"\x55", 1, INSN_OTHER, INSN_EMULATED},
		{"\x41\x57", 2, INSN_OTHER, INSN_EMULATED},
		{"\xc3", 1, INSN_RETURN, INSN_STEPPED},
		{"\xf3\xc3", 2, INSN_RETURN, INSN_STEPPED},
		{"\xc2\x08\x00", 3, INSN_RETURN, INSN_STEPPED},
		{"\xf3\x0f\x1e\xfa", 4, INSN_OTHER, INSN_STEPPED},
		{"\x0f\x1f\x44\x00\x00", 5, INSN_OTHER, INSN_REFUSED},
		{"\xf0\x83\x05\x54\x2d\x00\x00\x01", 8, INSN_OTHER, INSN_UNFIT},
		{"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, INSN_OTHER, INSN_STEPPED},
		{"\x3e\xff\xe0", 3, INSN_JUMP_AWAY, INSN_UNFIT},
		{"\x66\x0f\x1f\x44\x00\x00", 6, INSN_OTHER, INSN_STEPPED},
		{"\x48\x8b\x05\x01\x02\x03\x04", 7, INSN_OTHER, INSN_STEPPED},
		{"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, INSN_OTHER, INSN_STEPPED},
		{"\x66\x81\xc1\x01\x02", 5, INSN_OTHER, INSN_STEPPED},
		{"\xf7\xc1\x01\x02\x03\x04", 6, INSN_OTHER, INSN_STEPPED},
		{"\xf7\xd9", 2, INSN_OTHER, INSN_STEPPED},
		{"\xe8\x01\x00\x00\x00", 5, INSN_CALL, INSN_EMULATED},
		{"\xeb\x10", 2, INSN_JUMP, INSN_EMULATED},
		{"\x74\x10", 2, INSN_BRANCH, INSN_EMULATED},
		{"\x0f\x84\x01\x00\x00\x00", 6, INSN_BRANCH, INSN_EMULATED},
		{"\xff\xe0", 2, INSN_JUMP_AWAY, INSN_STEPPED},
		{"\xc5\xf8\x77", 3, INSN_OTHER, INSN_STEPPED},
		{"\xc5\xf9\x6f\x04\x24", 5, INSN_OTHER, INSN_STEPPED},
		{"\xc4\xe3\x7d\x39\xc1\x01", 6, INSN_OTHER, INSN_STEPPED},
		{"\x62\xf1\xfe\x48\x6f\x07", 6, INSN_OTHER, INSN_STEPPED},
		{"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, INSN_OTHER, INSN_STEPPED},
		{"\xcc", 1, INSN_TRAP, INSN_REFUSED},
	};
	struct insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint8_t *bytes = (const uint8_t *)cases[i].bytes;

		assert_true(insn__decode(EM_X86_64, bytes, cases[i].len, 0x1000, &insn));
		if (insn.len != cases[i].len || insn.kind != cases[i].kind ||
		    insn.cost != cases[i].cost)
			fail_msg("case %zu: length %u, kind %d, cost %d", i, insn.len, insn.kind,
				 insn.cost);
		/* cut off anywhere it is none */
		for (uint32_t cut = 0; cut < cases[i].len; cut++) {
			if (insn__decode(EM_X86_64, bytes, cut, 0, &insn) && insn.len > cut)
				fail_msg("case %zu cut to %u", i, cut);
		}
	}
	assert_true(insn__decode(EM_X86_64, (const uint8_t *)"\xeb\xfe", 2, 0x1000, &insn));
	assert_int_equal(insn.target, 0x1000);
}

static void patterns_fit_names(void **state)
{
	(void)state;
	assert_true(pattern__matches("a*c", "abbc"));
	assert_false(pattern__matches("a*c", "abbd"));
	assert_true(pattern__matches("*", ""));
	assert_true(pattern__matches("a::f", "a::f(int, char)"));
	assert_true(pattern__matches("a::f(int*", "a::f(int, char)"));
	assert_false(pattern__matches("a::f", "a::f2(int)"));
	assert_true(pattern__matches("m[...].f", "m[...].f"));
	assert_true(pattern__matches("a::(anonymous namespace)::f", "a::(anonymous namespace)::f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mistake_is_refused_with_its_place),
		cmocka_unit_test(a_caret_stands_under_the_mistake),
		cmocka_unit_test(deep_and_long_expressions_are_refused),
		cmocka_unit_test(every_spec_of_ours_is_read),
		cmocka_unit_test(a_constant_is_the_one_of_the_version),
		cmocka_unit_test(offsets_and_constants_are_folded),
		cmocka_unit_test(an_event_left_short_gets_its_defaults),
		cmocka_unit_test(an_expression_that_is_too_deep_is_refused),
		cmocka_unit_test(operands_are_read_in_all_their_forms),
		cmocka_unit_test(instructions_have_their_lengths),
		cmocka_unit_test(patterns_fit_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
