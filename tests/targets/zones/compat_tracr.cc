// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every macro that TraCR documents, used as its manual says. Prints what it did, one line a call that is
 * to be found in the trace, so that tests/e2e/compat.py can compare.
 */
#include <cassert>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>
#include <nlohmann/json.hpp>
#include <tracr/tracr.hpp>

static uint16_t compute, store, plain;

static void set(uint16_t channel, uint16_t type, const char *label, uint32_t extra)
{
	INSTRUMENTATION_MARK_SET(channel, type, extra);
	printf("set %u %s %u\n", channel, label, extra);
}

static void reset(uint16_t channel)
{
	INSTRUMENTATION_MARK_RESET(channel);
	printf("reset %u\n", channel);
}

static void worker(uint16_t channel)
{
	INSTRUMENTATION_THREAD_INIT();
	assert(!INSTRUMENTATION_ACTIVE || INSTRUMENTATION_THREAD_EXISTS());
	set(channel, compute, "compute", channel);
	INSTRUMENTATION_FLOW_START(channel, 1000u + channel);
	printf("start %u %u\n", channel, 1000u + channel);
	set(channel, store, "store", UINT32_MAX);
	reset(channel);
	INSTRUMENTATION_THREAD_FINALIZE();
	assert(!INSTRUMENTATION_THREAD_EXISTS());
}

int main()
{
	INSTRUMENTATION_TRACE_PATH("./out/");
	assert(!INSTRUMENTATION_PROC_EXISTS());
	INSTRUMENTATION_START();
	assert(INSTRUMENTATION_PROC_EXISTS() == INSTRUMENTATION_ACTIVE);
	assert(INSTRUMENTATION_IS_PROC_READY() == INSTRUMENTATION_ACTIVE);
	assert(INSTRUMENTATION_NUM_TRACR_THREADS() == (INSTRUMENTATION_ACTIVE ? 1 : 0));

	compute = INSTRUMENTATION_MARK_W_COLOR_ADD("compute", MARK_COLOR_TEAL);
	const std::string label = "store";
	store = INSTRUMENTATION_MARK_W_COLOR_ADD(label, MARK_COLOR_PEACH);
	plain = INSTRUMENTATION_MARK_ADD(std::string("pla") + "in");
	/* numbers go up from 0 */
	assert(!INSTRUMENTATION_ACTIVE || (compute == 0 && store == 1 && plain == 2));

	for (uint16_t channel = 1; channel < 4; channel++)
		std::thread(worker, channel).join();
	set(0, plain, "plain", 7);
	for (uint16_t channel = 1; channel < 4; channel++) {
		INSTRUMENTATION_FLOW_END(0, 1000u + channel);
		printf("end 0 %u\n", 1000u + channel);
	}
	/* one that nobody added is called by its number */
	set(0, 4711, "4711", 0);
	INSTRUMENTATION_OFF();
	INSTRUMENTATION_MARK_SET(0, compute, 99u);
	INSTRUMENTATION_MARK_RESET(0);
	INSTRUMENTATION_ON();
	reset(0);

	nlohmann::json names = {"main", "a", "b"};
	names.push_back("with \"quotes\"");
	INSTRUMENTATION_ADD_CHANNEL_NAMES(names);
	INSTRUMENTATION_ADD_NUM_CHANNELS(4);
	const std::string json = INSTRUMENTATION_GET_JSON_STR();
	const std::string records = INSTRUMENTATION_GET_THREAD_TRACE_STR();
	assert(json.empty() != INSTRUMENTATION_ACTIVE && records.empty() != INSTRUMENTATION_ACTIVE);
	fprintf(stderr, "%s\n", json.c_str());
	INSTRUMENTATION_END();
	assert(!INSTRUMENTATION_PROC_EXISTS());
	return 0;
}
