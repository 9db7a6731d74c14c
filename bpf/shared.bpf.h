/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What BPF objects of a capture have in common. The loader gives the tables of tracer.bpf.c to the
 * others.
 */
#ifndef TRACER_SHARED_BPF_H
#define TRACER_SHARED_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);   /* thread group */
	__type(value, __u32); /* enum target_flags */
} targets SEC(".maps");

struct buffer {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} template SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct buffer);
} buffers SEC(".maps") = {.values = {&template}};

static __always_inline void *this_buffer(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&buffers, &cpu);
}

static __always_inline bool is_target(__u32 tgid)
{
	return bpf_map_lookup_elem(&targets, &tgid) != NULL;
}

static __always_inline void header__fill(struct rec_header *header, __u16 kind, __u32 size)
{
	header->size = size;
	header->kind = kind;
	header->cpu = bpf_get_smp_processor_id();
	header->time = bpf_ktime_get_boot_ns();
}

#endif /* TRACER_SHARED_BPF_H */
