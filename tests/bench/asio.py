# SPDX-License-Identifier: BSD-2-Clause
"""The part `asio` of run.py: what tracking a handler of Boost.Asio costs, by tracking header."""
import os
import statistics
import subprocess

# name, flavour of the program, recorded by the tracer
HEADERS = [
	("no tracking", "none", False),
	("a header that counts, one thread's own counts", "plain", False),
	("a header that counts, atomically", "count", False),
	("a header that keeps three TSC reads, no more", "stamps", False),
	("tracer_asio.hpp, -DTRACER_DISABLE", "disabled", False),
	("tracer_asio.hpp, nobody attached", "tracer", False),
	("tracer_asio.hpp, recorded", "tracer", True),
	("Asio's own text", "text", False),
]
LOADS = [
	("post", ["post", "1000000", "1"]),
	("post, no hint", ["chain", "1000000", "1"]),
	("post, 2 thr.", ["post", "1000000", "2"]),
	("echo", ["echo", "200000", "1"]),
]


def measure(bench, flavour, recorded, load):
	program = bench.program("asio-" + flavour)
	if flavour == "text":
		load = [load[0], str(int(load[1]) // 20), load[2]]
	command = [program, *load]
	if recorded:
		command = [bench.tracer, "-q", "--force", "-o", bench.path("asio.trc"), "--", *command]
	done = subprocess.run(command, env=bench.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
			      check=True)
	return float(done.stdout)


def measure_all(bench):
	"""[load][header]: ns a handler; what is compared is measured in turns"""
	figures = {}
	for load, words in LOADS:
		runs = {name: [] for name, _, _ in HEADERS}
		for _ in range(1 if bench.quick else 5):
			for name, flavour, recorded in HEADERS:
				if flavour in ("plain", "stamps") and words[-1] != "1":
					continue
				if not os.path.exists(bench.program("asio-" + flavour)):
					continue
				runs[name].append(measure(bench, flavour, recorded, words))
		figures[load] = {name: statistics.median(values) for name, values in runs.items() if values}
	return figures


def available(bench):
	return os.path.exists(bench.program("asio-tracer"))
