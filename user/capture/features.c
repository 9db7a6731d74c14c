/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel and this user can do, found by asking: the kernel's own type information (BTF,
 * which everybody may read), programs of two instructions, maps that are closed again. Nothing is
 * attached, nothing is left behind.
 *
 * Some questions only get an answer with privileges. Without them the feature is false and its bit
 * in `untested` is set, so that `doctor` can say "not tested" instead of "no".
 */
#include "features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of newer kernels than the headers we may be built with. */
#define UPROBE_MULTI_ATTACH 48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */

#define PMU "/sys/bus/event_source/devices/uprobe/"

static bool capability__has(unsigned int number)
{
	unsigned long long effective = 0;
	char line[256];
	FILE *status = fopen("/proc/self/status", "re");

	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	fclose(status);
	return effective >> number & 1;
}

/* program__load() - "return 0" as a program for uprobes; its descriptor or -errno */
static int program__load(uint32_t flags, uint32_t attach_type)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = flags,
		    .expected_attach_type = attach_type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "tracer_asks", "GPL", code, 2, &options);

	return fd < 0 ? -errno : fd;
}

/* A user in a container may have every capability and yet be refused: so try. */
static bool privileges__suffice(void)
{
	int fd;

	if (!capability__has(21 /* CAP_SYS_ADMIN */))
		return false;
	fd = program__load(0, 0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool ringbuf__works(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tracer_asks", 0, 0,
				(uint32_t)sysconf(_SC_PAGESIZE), NULL);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool sleepable__works(void)
{
	int fd = program__load(BPF_F_SLEEPABLE, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Before, tables that grow on demand are refused to the tick (perf events) and to sleepable
 * programs. */
static bool lazy_maps__work(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, lazy, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "tracer_asks", 8, 8, 1, &lazy), fd;
	const struct bpf_insn code[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = map},
		{.imm = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	if (map < 0)
		return false;
	fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "tracer_asks", "GPL", code, 4, NULL);
	close(map);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/*
 * The link call is not in libbpf 1.1, and its attributes are not in older headers: the words are
 * laid out here as the kernel reads them. A folder as the path is refused with EBADF by a kernel
 * that knows the call; others do not get that far and say EINVAL.
 */
static bool uprobe_multi__works(void)
{
	static const uint64_t offsets[1] = {0};
	struct {
		uint32_t program, target;
		uint32_t attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t count, link_flags, pid, unused;
		uint8_t rest[64];
	} attributes;
	int fd = program__load(0, UPROBE_MULTI_ATTACH), link, error;

	if (fd < 0)
		return false;
	memset(&attributes, 0, sizeof(attributes));
	attributes.program = (uint32_t)fd;
	attributes.attach_type = UPROBE_MULTI_ATTACH;
	attributes.path = (uintptr_t) "/";
	attributes.offsets = (uintptr_t)offsets;
	attributes.count = 1;
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, 64);
	error = errno;
	if (link >= 0)
		close(link);
	close(fd);
	return link < 0 && error == EBADF;
}

static bool tick__works(bool privileged)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = 50,
		.freq = 1,
		.disabled = 1,
		.exclude_kernel = !privileged,
	};
	/* a tracer opens one per CPU; anybody may only ask for one on himself */
	int fd = (int)syscall(SYS_perf_event_open, &attributes, privileged ? -1 : 0,
			      privileged ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool btf__has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *found = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	if (!found)
		return false;
	for (int i = 0; i < btf_vlen(found); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(found)[i].name_off), member))
			return true;
	return false;
}

static bool btf__has_value(const struct btf *btf, const char *type, const char *value)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_ENUM);
	const struct btf_type *found = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	if (!found)
		return false;
	for (int i = 0; i < btf_vlen(found); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(found)[i].name_off), value))
			return true;
	return false;
}

/* tracepoint__arguments() - how many the tracepoint has in this kernel; -1: there is none such */
static int tracepoint__arguments(const struct btf *btf, const char *name)
{
	const struct btf_type *type;
	char typedef_name[128];
	int id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	if (!type)
		return -1;
	type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_ptr(type))
		return -1;
	type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_func_proto(type))
		return -1;
	return btf_vlen(type) - 1; /* the first is the BPF program's own */
}

static void features__ask_types(struct features *features, const struct btf *btf)
{
	features->btf = true;
	/* Linux 5.12, a10787e6d58c: storage moved from the LSM blob to the task itself */
	features->task_storage = btf__has_member(btf, "task_struct", "bpf_storage");
	features->ringbuf = btf__has_value(btf, "bpf_map_type", "BPF_MAP_TYPE_RINGBUF");
	features->uprobe_multi = btf__has_value(btf, "bpf_attach_type", "BPF_TRACE_UPROBE_MULTI");
	features->prepare_exec = tracepoint__arguments(btf, "sched_prepare_exec") > 0;
	/* Linux 6.16 moved it before the address space goes, and gave it a second argument */
	features->exit_with_mm = tracepoint__arguments(btf, "sched_process_exit") >= 2;
	features->task_work = btf__find_by_name_kind(btf, "bpf_task_work_schedule_resume_impl",
						     BTF_KIND_FUNC) > 0 &&
			      tracepoint__arguments(btf, "vm_unmapped_area") == 2;
	features->switch_state = tracepoint__arguments(btf, "sched_switch") >= 4;
	/* Linux 6.18, x86 only: its trampolines come back through a system call of their own */
	features->nop5_is_optimised =
		btf__find_by_name_kind(btf, "__x64_sys_uprobe", BTF_KIND_FUNC) > 0;
}

void features__detect(struct features *features)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	struct btf *btf = btf__load_vmlinux_btf();

	memset(features, 0, sizeof(*features));
	if (btf && !libbpf_get_error(btf))
		features__ask_types(features, btf);
	btf__free(btf);
	features->root = privileges__suffice();
	features->uprobe = !access(PMU "type", R_OK);
	features->uprobe_ref_ctr = !access(PMU "format/ref_ctr_offset", R_OK);
	features->tick = tick__works(features->root);
	if (features->root) {
		features->ringbuf = ringbuf__works();
		features->sleepable_uprobe = sleepable__works();
		features->lazy_maps = lazy_maps__work();
		features->uprobe_multi = uprobe_multi__works();
	} else {
		features->untested = 1U << FEATURE_sleepable_uprobe | 1U << FEATURE_lazy_maps;
	}
	libbpf_set_print(print);
}

void features__use_uprobe(const struct features *features, struct bpf_program *program)
{
	bpf_program__set_autoload(program, true);
	if (features->uprobe_multi)
		bpf_program__set_expected_attach_type(program,
						      (enum bpf_attach_type)UPROBE_MULTI_ATTACH);
}

uint64_t buffer_size__default(int cpus)
{
	const uint64_t least = 256ULL << 10, most = 512ULL << 20;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size = least;

	while (size < most && size * 2 <= memory / 32 / (uint64_t)cpus)
		size *= 2;
	return size;
}

int features__withhold(struct features *features, const char *list)
{
	const struct {
		const char *name;
		bool *has;
		bool required;
	} all[] = {
#define X(id, title, since, required, without, remedy) {#id, &features->id, required},
		FEATURES(X)
#undef X
	};
	size_t length, i;

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
			if (strlen(all[i].name) == length && !strncmp(all[i].name, list, length))
				break;
		}
		if (i == sizeof(all) / sizeof(*all) || all[i].required)
			return -EINVAL;
		*all[i].has = false;
	}
	return 0;
}
