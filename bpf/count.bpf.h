/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is refused or goes wrong, by cause: of the objects that hand over and that hold threads. */
#ifndef TRACER_COUNT_BPF_H
#define TRACER_COUNT_BPF_H

#include "state.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

static __always_inline void count(enum counter which, __u64 much)
{
	__u32 key = which;
	__u64 *value = bpf_map_lookup_elem(&counters, &key);

	if (value)
		*value += much;
}

#endif /* TRACER_COUNT_BPF_H */
