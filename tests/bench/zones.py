# SPDX-License-Identifier: BSD-2-Clause
"""What the points of the Python module cost, less the loop around them. Prints a line of JSON.

	python3 zones.py [--zones N] [--rounds N] [--wait]	build/python on PYTHONPATH

--wait: says "ready PID" and goes on when it reads a line. --rounds: so many such lines, for captures one
after the other: memory of the process is told after each.
"""
import argparse
import json
import os
import statistics
import sys
import time

import tracer


def empty(count):
	for _ in range(count):
		pass


def zone(count):
	for _ in range(count):
		with tracer.zone("zone"):
			pass


@tracer.traced
def function():
	pass


def traced(count):
	for _ in range(count):
		function()


def counter(count):
	for n in range(count):
		tracer.counter("queue", n)


def marker(count):
	for n in range(count):
		tracer.marker_set(0, "marker", n)


def anon_kib():
	with open("/proc/self/status", encoding="ascii") as file:
		return int(next(line for line in file if line.startswith("RssAnon")).split()[1])


def wait():
	print("ready %d" % os.getpid(), flush=True)
	if not sys.stdin.readline():
		sys.exit(1)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("--zones", type=int, default=1000000)
	parser.add_argument("--rounds", type=int, default=1)
	parser.add_argument("--wait", action="store_true")
	options = parser.parse_args()
	ways = (empty, zone, traced, counter, marker)
	result = {"zones": options.zones, "enabled": False, "anon_kib": []}
	costs = {way.__name__: [] for way in ways}
	for _ in range(options.rounds):
		if options.wait:
			wait()
		result["enabled"] = tracer.enabled("zone")
		for _ in range(5):
			for way in ways:
				begin = time.thread_time_ns()
				way(options.zones // 5)
				costs[way.__name__].append((time.thread_time_ns() - begin) / (options.zones // 5))
		result["anon_kib"].append(anon_kib())
		if options.rounds > 1:
			print("done", flush=True)
	loop = statistics.median(costs.pop("empty"))
	for name, values in costs.items():
		result[name + "_ns"] = statistics.median(values) - loop
	print(json.dumps(result))


if __name__ == "__main__":
	main()
