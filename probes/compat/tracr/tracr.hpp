/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs written for TraCR, traced by tracer: compile with -I probes/compat -I usdt -DENABLE_TRACR (C++17),
 * link nothing. Without ENABLE_TRACR all of it is nothing, as there.
 *
 * What TraCR calls a marker type (a label with a colour, by its eventId) is here the name of a marker; a
 * channel is a channel; a flow is an arrow between what is open on two channels, also of two processes.
 * Nothing is kept in memory and no file is written: with a tracer attached the markers are in its trace,
 * without one they cost a load and a branch each. docs/runtimes/compat.md has the table of switches.
 *
 * Other than there
 *	no call ends the program: a thread needs no THREAD_INIT, an END may be missing
 *	marker types may be added by any thread at any time
 *	a marker's end is known without an END, also when the process is killed
 */
#ifndef TRACER_COMPAT_TRACR_HPP
#define TRACER_COMPAT_TRACR_HPP

/* programs take these for granted, as they come with the original */
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <mutex>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>
#include <tracer/tracer.h>

/* Paraver's first colours; the values are in TraCR::detail::palette. */
enum mark_color : uint16_t {
	MARK_COLOR_NONE,
	MARK_COLOR_BLUE,
	MARK_COLOR_LIGHT_GRAY,
	MARK_COLOR_RED,
	MARK_COLOR_GREEN,
	MARK_COLOR_YELLOW,
	MARK_COLOR_ORANGE,
	MARK_COLOR_PURPLE,
	MARK_COLOR_CYAN,
	MARK_COLOR_MAGENTA,
	MARK_COLOR_LIGHT_GREEN,
	MARK_COLOR_PINK,
	MARK_COLOR_TEAL,
	MARK_COLOR_GRAY,
	MARK_COLOR_LAVENDER,
	MARK_COLOR_BROWN,
	MARK_COLOR_LIGHT_YELLOW,
	MARK_COLOR_MAROON,
	MARK_COLOR_MINT,
	MARK_COLOR_OLIVE,
	MARK_COLOR_PEACH,
	MARK_COLOR_NAVY,
	MARK_COLOR_BRIGHT_BLUE
};

namespace TraCR
{
#ifdef ENABLE_TRACR
namespace detail
{

constexpr uint32_t palette[] = {
	0x000000, 0x0082c8, 0xd9d9d9, 0xe6194b, 0x3cb44b, 0xffe119, 0xf58230, 0x911eb4,
	0x46f0f0, 0xf032e6, 0xd2f53c, 0xfabed4, 0x008080, 0x808080, 0xdcbeff, 0xaa6e28,
	0xfffac8, 0x800000, 0xaaffc3, 0x808000, 0xffd7b4, 0x000080, 0x0000ff,
};
constexpr uint32_t palette_size = sizeof(palette) / sizeof(*palette);

/* A marker type. Never freed: other threads may be about to use it. */
struct type {
	std::string label;
	uint64_t key = 0;		/* of the label, as records have it */
	uint32_t color = 0;
	bool has_color = false;
	std::atomic<uint32_t> told{0};	/* capture to which the colour was told */
};

/*
 * All that a process has, whichever of its libraries use the header. Types are found without a lock: a
 * table of 256 pointers to tables of 256, so that nothing ever moves.
 */
struct state {
	std::mutex lock;
	std::atomic<std::atomic<type *> *> tables[256] = {};
	uint32_t count = 0;
	std::unordered_map<uint16_t, std::string> colors_used;
	nlohmann::json channel_names;
	bool has_channel_names = false;
	bool has_num_channels = false;
	uint16_t num_channels = 0;
	std::atomic<bool> exists{false}, ready{false}, on{true};
	std::atomic<int> threads{0};
	std::atomic<uint32_t> capture{1};	/* changes each time the gate is found closed after open */
	std::atomic<bool> open{false};
	uint64_t started = 0;
	std::string path;
};

inline state &all()
{
	/* never destroyed: markers may be set in destructors of statics */
	static state *const one = new state;
	return *one;
}

inline thread_local bool thread_exists = false;

inline std::atomic<type *> *table_of(state &s, uint16_t id)
{
	std::atomic<std::atomic<type *> *> &slot = s.tables[id >> 8];
	std::atomic<type *> *table = slot.load(std::memory_order_acquire), *fresh;

	if (table)
		return table;
	fresh = new std::atomic<type *>[256]();
	if (slot.compare_exchange_strong(table, fresh, std::memory_order_acq_rel))
		return fresh;
	delete[] fresh;
	return table;
}

inline void set_label(type &t, const std::string &label)
{
	t.label = label;
	t.key = tracer_name_key(t.label.c_str(), tracer__length(t.label.c_str()));
}

/* the type of an id, also of one that nobody added: then its label is the number */
inline type &type_of(state &s, uint16_t id)
{
	std::atomic<type *> &slot = table_of(s, id)[id & 255];
	type *found = slot.load(std::memory_order_acquire), *fresh;

	if (found)
		return *found;
	fresh = new type;
	set_label(*fresh, std::to_string(id));
	if (slot.compare_exchange_strong(found, fresh, std::memory_order_acq_rel))
		return *fresh;
	delete fresh;
	return *found;
}

inline void tell_channels(state &s)
{
	uint32_t channel = 0;

	if (!s.has_channel_names)
		return;
	for (const auto &name : s.channel_names) {
		const std::string text = name.is_string() ? name.template get<std::string>() : name.dump();

		TRACER_CHANNEL_NAME(channel++, text.c_str());
	}
}

/*
 * What was declared while nobody listened is told to a capture that begins later. Whoever finds the gate
 * closed that was open begins a new capture's count; closed points read one word more for it.
 */
inline void closed(state &s)
{
	if (s.open.load(std::memory_order_relaxed) && s.open.exchange(false))
		s.capture.fetch_add(1);
}

inline void opened(state &s)
{
	if (!s.open.load(std::memory_order_relaxed) && !s.open.exchange(true)) {
		std::lock_guard<std::mutex> guard(s.lock);
		tell_channels(s);
	}
}

inline void tell_color(state &s, type &t)
{
	const uint32_t capture = s.capture.load(std::memory_order_relaxed);

	if (t.has_color && t.told.load(std::memory_order_relaxed) != capture &&
	    t.told.exchange(capture) != capture)
		TRACER_MARKER_COLOR(t.label.c_str(), t.color);
}

__attribute__((noinline)) inline void set_open(uint16_t channel, uint16_t id, uint32_t extra)
{
	state &s = all();
	type &t = type_of(s, id);
	const uint64_t told = extra == UINT32_MAX ? TRACER_UNKNOWN : static_cast<uint64_t>(extra);
	const uint32_t gate = TRACER__GATE(tracer__in_marker);

	opened(s);
	tell_color(s, t);
	/* as TRACER_MARKER_SET(), but that the label need not be hashed anew: the event's number, size, strings */
	if (gate & TRACER_GATE_DIRECT)
		tracer__marker_set(gate & TRACER_GATE_DIRECT, channel, t.label.c_str(), told);
	if (gate & TRACER_GATE_RECORDED)
		tracer__record_keyed(96, 32, 2, 0, channel, reinterpret_cast<uintptr_t>(t.label.c_str()), told,
				     0, t.key, 0);
}

inline uint16_t add(const std::string &label, bool has_color, uint16_t color_id)
{
	state &s = all();
	std::lock_guard<std::mutex> guard(s.lock);
	std::atomic<type *> *slot;
	type *t;

	if (has_color && !s.colors_used.emplace(color_id, label).second)
		std::cerr << "tracr: the colour of \"" << label << "\" is that of another marker, too\n";
	/* the last three numbers are TraCR's own */
	if (s.count >= 65533) {
		std::cerr << "tracr: more than 65533 marker types; \"" << label << "\" is the last one again\n";
		return 65532;
	}
	slot = &table_of(s, static_cast<uint16_t>(s.count))[s.count & 255];
	t = new type;
	set_label(*t, label);
	t->has_color = has_color;
	t->color = palette[color_id % palette_size];
	slot->store(t, std::memory_order_release);
	if (TRACER_ENABLED(marker)) {
		s.open.store(true);
		tell_color(s, *t);
	}
	return static_cast<uint16_t>(s.count++);
}

inline nlohmann::json metadata()
{
	state &s = all();
	nlohmann::json json;

	json["pid"] = static_cast<int>(getpid());
	json["start_time"] = s.started;
	json["markerLabels"] = nlohmann::json::array();
	for (uint32_t i = 0; i < s.count; i++)
		json["markerLabels"].push_back(type_of(s, static_cast<uint16_t>(i)).label);
	for (const auto &used : s.colors_used)
		json["markerTypes"][std::to_string(used.first)] = used.second;
	if (s.has_channel_names) {
		json["channel_names"] = s.channel_names;
		json["num_channels"] = s.channel_names.size();
	} else if (s.has_num_channels) {
		json["num_channels"] = s.num_channels;
	}
	return json;
}

} // namespace detail

inline void instrumentation_thread_init()
{
	if (!detail::thread_exists)
		detail::all().threads.fetch_add(1);
	detail::thread_exists = true;
}

inline void instrumentation_thread_finalize()
{
	if (detail::thread_exists)
		detail::all().threads.fetch_sub(1);
	detail::thread_exists = false;
}

inline void instrumentation_start()
{
	detail::state &s = detail::all();
	timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	s.started = static_cast<uint64_t>(now.tv_sec) * 1000000000U + static_cast<uint64_t>(now.tv_nsec);
	s.exists = true;
	instrumentation_thread_init();
	s.ready = true;
}

inline void instrumentation_end()
{
	detail::state &s = detail::all();

	instrumentation_thread_finalize();
	s.exists = false;
	s.ready = false;
}

inline uint16_t instrumentation_mark_w_color_add(const std::string &label, uint16_t color)
{
	return detail::add(label, true, color);
}

inline uint16_t instrumentation_mark_add(const std::string &label)
{
	return detail::add(label, false, 0);
}

inline void instrumentation_mark_set(uint16_t channel, uint16_t id, uint32_t extra = UINT32_MAX)
{
	detail::state &s = detail::all();

	if (!TRACER_ENABLED(marker))
		detail::closed(s);
	else if (s.on.load(std::memory_order_relaxed))
		detail::set_open(channel, id, extra);
}

inline void instrumentation_mark_reset(uint16_t channel)
{
	if (detail::all().on.load(std::memory_order_relaxed))
		TRACER_MARKER_RESET(channel);
}

inline void instrumentation_flow_start(uint16_t channel, uint32_t id)
{
	if (detail::all().on.load(std::memory_order_relaxed))
		TRACER_MARKER_FLOW_START(channel, id);
}

inline void instrumentation_flow_end(uint16_t channel, uint32_t id)
{
	if (detail::all().on.load(std::memory_order_relaxed))
		TRACER_MARKER_FLOW_END(channel, id);
}

inline void instrumentation_channel_names(const nlohmann::json &names)
{
	detail::state &s = detail::all();
	std::lock_guard<std::mutex> guard(s.lock);

	s.channel_names = names;
	s.has_channel_names = true;
	detail::tell_channels(s);
}

inline void instrumentation_num_channels(uint16_t count)
{
	detail::state &s = detail::all();
	std::lock_guard<std::mutex> guard(s.lock);

	s.num_channels = count;
	s.has_num_channels = true;
}

inline void instrumentation_on()
{
	detail::all().on = true;
}

inline void instrumentation_off()
{
	detail::all().on = false;
}

/* kept, and used by nobody: where the trace goes is the tracer's -o */
inline void instrumentation_trace_path(const std::string &path)
{
	detail::all().path = path;
}

inline bool instrumentation_is_proc_ready()
{
	return detail::all().ready;
}

inline int instrumentation_num_tracr_threads()
{
	return detail::all().threads;
}

inline bool instrumentation_proc_exists()
{
	return detail::all().exists;
}

inline bool instrumentation_thread_exists()
{
	return detail::thread_exists;
}

inline std::string instrumentation_get_json_str()
{
	detail::state &s = detail::all();
	std::lock_guard<std::mutex> guard(s.lock);

	return detail::metadata().dump();
}

/* the records are the tracer's as soon as they are written: there is never one to show */
inline std::string instrumentation_get_thread_trace_str()
{
	if (!detail::thread_exists)
		return "[no TraCR thread]";
	return "Thread(" + std::to_string(syscall(SYS_gettid)) + "):[kept by tracer]";
}
#endif /* ENABLE_TRACR */
} // namespace TraCR

using namespace TraCR;

#ifdef ENABLE_TRACR

#define INSTRUMENTATION_ACTIVE true
#define INSTRUMENTATION_START() ::TraCR::instrumentation_start()
#define INSTRUMENTATION_END() ::TraCR::instrumentation_end()
#define INSTRUMENTATION_THREAD_INIT() ::TraCR::instrumentation_thread_init()
#define INSTRUMENTATION_THREAD_FINALIZE() ::TraCR::instrumentation_thread_finalize()
#define INSTRUMENTATION_GET_THREAD_TRACE_STR() ::TraCR::instrumentation_get_thread_trace_str()
#define INSTRUMENTATION_MARK_W_COLOR_ADD(label, colorId) \
	::TraCR::instrumentation_mark_w_color_add(label, colorId)
#define INSTRUMENTATION_MARK_ADD(label) ::TraCR::instrumentation_mark_add(label)
#define INSTRUMENTATION_MARK_SET(channelId, eventId, extraId) \
	::TraCR::instrumentation_mark_set(channelId, eventId, extraId)
#define INSTRUMENTATION_MARK_RESET(channelId) ::TraCR::instrumentation_mark_reset(channelId)
#define INSTRUMENTATION_FLOW_START(channelId, flowId) ::TraCR::instrumentation_flow_start(channelId, flowId)
#define INSTRUMENTATION_FLOW_END(channelId, flowId) ::TraCR::instrumentation_flow_end(channelId, flowId)
#define INSTRUMENTATION_ADD_CHANNEL_NAMES(channel_names) \
	::TraCR::instrumentation_channel_names(channel_names)
#define INSTRUMENTATION_ADD_NUM_CHANNELS(num_channels) ::TraCR::instrumentation_num_channels(num_channels)
#define INSTRUMENTATION_ON() ::TraCR::instrumentation_on()
#define INSTRUMENTATION_OFF() ::TraCR::instrumentation_off()
#define INSTRUMENTATION_TRACE_PATH(path) ::TraCR::instrumentation_trace_path(path)
#define INSTRUMENTATION_IS_PROC_READY() ::TraCR::instrumentation_is_proc_ready()
#define INSTRUMENTATION_NUM_TRACR_THREADS() ::TraCR::instrumentation_num_tracr_threads()
#define INSTRUMENTATION_PROC_EXISTS() ::TraCR::instrumentation_proc_exists()
#define INSTRUMENTATION_THREAD_EXISTS() ::TraCR::instrumentation_thread_exists()
#define INSTRUMENTATION_GET_JSON_STR() ::TraCR::instrumentation_get_json_str()

#else /* the same words, and nothing happens; arguments count as used */

#define INSTRUMENTATION_ACTIVE false
#define INSTRUMENTATION_START()
#define INSTRUMENTATION_END()
#define INSTRUMENTATION_THREAD_INIT()
#define INSTRUMENTATION_THREAD_FINALIZE()
#define INSTRUMENTATION_GET_THREAD_TRACE_STR() ""
#define INSTRUMENTATION_MARK_W_COLOR_ADD(label, colorId) \
	(static_cast<void>(label), static_cast<void>(colorId), static_cast<uint16_t>(0))
#define INSTRUMENTATION_MARK_ADD(label) (static_cast<void>(label), static_cast<uint16_t>(0))
#define INSTRUMENTATION_MARK_SET(channelId, eventId, extraId) \
	(static_cast<void>(channelId), static_cast<void>(eventId), static_cast<void>(extraId))
#define INSTRUMENTATION_MARK_RESET(channelId) static_cast<void>(channelId)
#define INSTRUMENTATION_FLOW_START(channelId, flowId) \
	(static_cast<void>(channelId), static_cast<void>(flowId))
#define INSTRUMENTATION_FLOW_END(channelId, flowId) \
	(static_cast<void>(channelId), static_cast<void>(flowId))
#define INSTRUMENTATION_ADD_CHANNEL_NAMES(channel_names) static_cast<void>(channel_names)
#define INSTRUMENTATION_ADD_NUM_CHANNELS(num_channels) static_cast<void>(num_channels)
#define INSTRUMENTATION_ON()
#define INSTRUMENTATION_OFF()
#define INSTRUMENTATION_TRACE_PATH(path) static_cast<void>(path)
#define INSTRUMENTATION_IS_PROC_READY() false
#define INSTRUMENTATION_NUM_TRACR_THREADS() 0
#define INSTRUMENTATION_PROC_EXISTS() false
#define INSTRUMENTATION_THREAD_EXISTS() false
#define INSTRUMENTATION_GET_JSON_STR() ""

#endif /* ENABLE_TRACR */

#endif /* TRACER_COMPAT_TRACR_HPP */
