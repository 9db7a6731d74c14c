#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures the tracer beside other tools, in one run: costs of points, exports, slowdown, capture.

	run.py --build DIR [--quick] [--json FILE] [--only points,zones,python,...]

Figures are medians. What is compared with one another is measured in turns, so that what else the
machine does takes its share of each; costs are user and system time of the target. Nothing here is
asserted: docs/benchmarks.md says what the figures mean and what they should be.
"""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import asio

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TASKS = 1000000
RECORDS_A_TASK = 8


class Skip(Exception):
	"""a measurement that cannot be made here, and why"""


class Bench:
	def __init__(self, options):
		self.quick = options.quick
		self.build = os.path.abspath(options.build)
		self.tracer = os.path.join(self.build, "tracer")
		self.tmp = tempfile.mkdtemp(prefix="tracer-bench-")
		self.env = {k: v for k, v in os.environ.items() if not k.startswith("TRACER_")}
		self.result = {}

	def program(self, name):
		return os.path.join(self.build, "bench", name)

	def path(self, name):
		return os.path.join(self.tmp, name)

	def run(self, *command, **options):
		done = subprocess.run(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				      text=True, **options)
		if done.returncode:
			lines = (done.stderr + done.stdout).strip().splitlines() or ["status %d" % done.returncode]
			raise Skip("%s: %s" % (os.path.basename(command[0]), lines[-1]))
		return done.stdout


def need(command):
	if not shutil.which(command):
		raise Skip("no command %s here" % command)
	return command


def title(text):
	print("\n" + text + "\n" + "-" * len(text), flush=True)


def row(name, *cells):
	print("  %-44s" % name + "".join("%14s" % cell for cell in cells), flush=True)


# A program that waits, whoever attaches to it, and its line of JSON

def measured(bench, command, attach=None):
	"""runs @command; @attach(pid) is called while it waits, and returns what is to be done at its end"""
	target = subprocess.Popen([*command, "--wait"], env=bench.env, text=True,
				  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	finish = None
	try:
		line = target.stdout.readline()
		if not line.startswith("ready "):
			raise Skip("%s does not start" % command[0])
		if attach:
			finish = attach(int(line.split()[1]))
		target.stdin.write("\n")
		target.stdin.flush()
		text = target.stdout.readline()
	finally:
		target.stdin.close()
		if target.wait():
			raise Skip("%s ended with status %d" % (command[0], target.returncode))
	result = json.loads(text)
	if finish:
		result["recorded_share"] = finish(result)
	return result


def attach_tracer(bench):
	def attach(pid):
		ready, told = os.pipe()
		tracer = subprocess.Popen([bench.tracer, "record", "-q", "--force", "-o", bench.path("pair.trc"),
					   "--summary", bench.path("pair.json"),
					   "--ready-fd", str(told), "-p", str(pid)],
					  env=bench.env, pass_fds=[told])
		os.close(told)
		if not os.read(ready, 1):
			raise Skip("the tracer does not attach")
		os.close(ready)

		def finish(result):
			tracer.wait()
			with open(bench.path("pair.json"), encoding="utf-8") as file:
				summary = json.load(file)
			os.unlink(bench.path("pair.trc"))
			os.unlink(bench.path("pair.json"))
			return summary["records"] / max(summary["recorded"], 1)
		return finish
	return attach


def hits_of(result, repeat):
	"""hits that a run of bench__print_pair() makes: two a pair, and those of the warm-up"""
	return 2 * (result["pairs"] * repeat + result["pairs"] // 10 + 1)


def attach_bpftrace(bench, binary, repeat):
	need("bpftrace")
	script = ("usdt:%s:tracer:task_begin { @begin = count(); } usdt:%s:tracer:task_end { @end = count(); } "
		  "interval:ms:50 { if (@said == 0) { @said = 1; printf(\"attached\\n\"); } }" % (binary, binary))

	def attach(pid):
		tool = subprocess.Popen(["bpftrace", "-p", str(pid), "-e", script], env=bench.env, text=True,
					stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		for line in tool.stdout:
			if line.startswith("attached"):
				break
		else:
			raise Skip("bpftrace: " + (tool.stderr.read().strip().splitlines() or ["does not attach"])[-1])

		def finish(result):
			out = tool.communicate(timeout=30)[0]
			counts = [int(n) for n in re.findall(r"@(?:begin|end): (\d+)", out)]
			return sum(counts) / hits_of(result, repeat)
		return finish
	return attach


def attach_perf(bench, binary, repeat):
	need("perf")
	group = "probe_bench"
	for name in ("task_begin", "task_end"):
		bench.run("perf", "probe", "-q", "-f", "-x", binary, "%s:%s=%s" % (group, name, name))

	def attach(pid):
		control, told = os.pipe()
		acknowledged, answer = os.pipe()
		tool = subprocess.Popen(["perf", "record", "-q", "-m", "8M", "-D", "-1",
					 "--control", "fd:%d,%d" % (control, answer),
					 "-e", group + ":task_begin", "-e", group + ":task_end",
					 "-p", str(pid), "-o", bench.path("perf.data")], env=bench.env,
					pass_fds=[control, answer], stderr=subprocess.PIPE, text=True)
		os.close(control)
		os.close(answer)
		os.write(told, b"enable\n")
		if not os.read(acknowledged, 4):
			raise Skip("perf: " + (tool.stderr.read().strip().splitlines() or ["does not attach"])[-1])

		def finish(result):
			tool.communicate(timeout=60)
			os.close(told)
			os.close(acknowledged)
			lines = bench.run("perf", "script", "-i", bench.path("perf.data"), "-F", "event")
			return lines.count("task_") / hits_of(result, repeat)
		return finish
	return attach


def perf_clean(bench):
	subprocess.run(["perf", "probe", "-q", "-d", "probe_bench:*"], env=bench.env, check=False,
		       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Lttng:
	"""a session daemon of our own, unless there is one"""
	def __init__(self, bench):
		self.bench = bench
		self.daemon = None
		for command in ("lttng", "lttng-sessiond"):
			need(command)
		self.program = bench.path("pair_lttng")
		include = os.path.join(SRC, "tests", "bench")
		bench.run(os.environ.get("CC", "gcc"), "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-I", include, "-o",
			  self.program, os.path.join(include, "pair_lttng.c"), "-llttng-ust", "-ldl")
		bench.env["LTTNG_HOME"] = bench.tmp
		if subprocess.run(["lttng", "list"], env=bench.env, check=False, stdout=subprocess.DEVNULL,
				  stderr=subprocess.DEVNULL).returncode:
			# ready when it has gone to the background
			subprocess.run(["lttng-sessiond", "--background", "--no-kernel", "--pidfile",
					bench.path("lttng.pid")], env=bench.env, check=False,
				       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
				       stderr=subprocess.DEVNULL, timeout=20)
			with open(bench.path("lttng.pid"), encoding="utf-8") as file:
				self.daemon = int(file.read())

	def measure(self, options):
		name = "tracer-bench-%d" % os.getpid()
		run = self.bench.run
		run("lttng", "create", name, "--output", self.bench.path("lttng"))
		try:
			run("lttng", "enable-channel", "-u", "-s", name, "--subbuf-size", "4M", "--num-subbuf", "8", "c")
			run("lttng", "enable-event", "-u", "-s", name, "-c", "c", "bench:*")
			run("lttng", "start", name)
			result = measured(self.bench, [self.program, *options])
			run("lttng", "stop", name)
			lost = re.search(r"Discarded events: (\d+)", run("lttng", "list", name))
			hits = hits_of(result, int(options[1]))
			result["recorded_share"] = 1 - int(lost.group(1)) / hits if lost else None
			if not result["enabled"]:
				raise Skip("lttng: the session did not reach the program")
			return result
		finally:
			run("lttng", "destroy", name)
			shutil.rmtree(self.bench.path("lttng"), ignore_errors=True)

	def close(self):
		if self.daemon:
			os.kill(self.daemon, 15)


def measure_uftrace(bench, options):
	need("uftrace")
	out = bench.run("uftrace", "record", "--no-libcall", "-d", bench.path("uftrace"),
			bench.program("pair_uftrace"), *options)
	shutil.rmtree(bench.path("uftrace"), ignore_errors=True)
	return json.loads(out.splitlines()[-1])


# The parts of a run

def bench_points(bench):
	"""closed, attached, and the peers, in turns"""
	rounds = 1 if bench.quick else 3
	own = ["--repeat", "15" if bench.quick else "41"]
	slow = ["--repeat", "5", "--pairs", "3000"]
	fast = ["--repeat", "9", "--pairs", "200000"]
	pair, function = bench.program("pair"), bench.program("pair_function")
	lttng = None
	reasons = {}
	try:
		lttng = Lttng(bench)
	except Skip as skip:
		reasons["lttng"] = str(skip)
	ways = {
		"closed": lambda: measured(bench, [pair, *own]),
		"tracer": lambda: measured(bench, [pair, *own], attach_tracer(bench)),
		"bpftrace": lambda: measured(bench, [pair, *slow], attach_bpftrace(bench, pair, 5)),
		"perf": lambda: measured(bench, [function, *slow], attach_perf(bench, function, 5)),
		"lttng": lambda: lttng.measure(fast),
		"uftrace": lambda: measure_uftrace(bench, fast),
	}
	found = {name: [] for name in ways}
	try:
		for _ in range(rounds):
			for name, way in ways.items():
				if name in reasons:
					continue
				try:
					found[name].append(way())
				except (Skip, subprocess.TimeoutExpired, OSError) as skip:
					reasons[name] = str(skip)
	finally:
		perf_clean(bench)
		if lttng:
			lttng.close()
	return {name: {key: statistics.median(one[key] for one in list_ if one[key] is not None)
		       for key in list_[0] if list_[0][key] is not None}
		for name, list_ in found.items() if list_ and name not in reasons}, reasons


def print_points(bench):
	title("A TASK_BEGIN/TASK_END pair: user and system time of the target, the same event through others")
	points, reasons = bench_points(bench)
	words = {"closed": "points closed", "tracer": "tracer, attached", "bpftrace": "bpftrace on the USDT probes",
		 "perf": "perf, two classic uprobes", "lttng": "lttng-ust, two tracepoints",
		 "uftrace": "uftrace -pg, one function"}
	row("", "ns a pair", "of two reads", "of the tracer", "recorded")
	if "closed" in points:
		row("two readings of the cycle counter", "%.2f" % points["closed"]["two_reads_ns"], "1.00")
	own = points.get("tracer", {}).get("pair_ns")
	for name, text in words.items():
		if name in reasons:
			row(text, "skipped: " + reasons[name])
			continue
		one = points[name]
		of_own = one["pair_ns"] / own if own else None
		points[name]["of_tracer"] = of_own
		share = one.get("recorded_share")
		row(text, "%.2f" % one["pair_ns"], "%.2f" % one["ratio"], "%.2f" % of_own if of_own else "-",
		    "%.1f %%" % (100 * share) if share is not None else "")
	if "closed" in points:
		row("a closed point, less the loop around it", "%.3f" % points["closed"]["point_ns"], "ns a point")
	points["skipped"] = reasons
	bench.result["points"] = points


def print_disabled(bench):
	title("TRACER_DISABLE: object code beside that of code without the macros")
	same = {}
	source = os.path.join(SRC, "tests", "bench", "disabled.c")
	for compiler in ("gcc", "clang"):
		for level in ("-O0", "-O2", "-O3"):
			name = compiler + " " + level
			try:
				need(compiler)
				texts = []
				for flag in ("-DTRACER_DISABLE", "-DWITHOUT"):
					objects = bench.path("disabled.o")
					bench.run(compiler, level, "-I", os.path.join(SRC, "usdt"), flag, "-c", source,
						  "-o", objects)
					bench.run("objcopy", "-O", "binary", "--only-section=.text", objects, objects + ".text")
					with open(objects + ".text", "rb") as file:
						texts.append(file.read())
				same[name] = texts[0] == texts[1]
				row(name, "identical" if same[name] else "DIFFERENT", "%d bytes" % len(texts[0]))
			except Skip as skip:
				same[name] = None
				row(name, "skipped: " + str(skip))
	bench.result["disabled_identical"] = same


class Watch(threading.Thread):
	"""the largest RssAnon of a process, and its own CPU time, while it runs"""
	def __init__(self, pid):
		super().__init__(daemon=True)
		self.pid, self.anon, self.cpu = pid, 0, 0.0
		self.tick = os.sysconf("SC_CLK_TCK")

	def run(self):
		try:
			while True:
				with open("/proc/%d/status" % self.pid, encoding="utf-8") as file:
					found = re.search(r"RssAnon:\s+(\d+)", file.read())
				if found:
					self.anon = max(self.anon, int(found.group(1)) << 10)
				with open("/proc/%d/stat" % self.pid, encoding="utf-8") as file:
					fields = file.read().rsplit(")", 1)[1].split()
				self.cpu = (int(fields[11]) + int(fields[12])) / self.tick
				time.sleep(0.01)
		except OSError:
			return


def watched(bench, *command):
	"""runs @command; CPU seconds with those of its children, wall seconds, peak RssAnon, its own CPU seconds"""
	begin = time.monotonic()
	process = subprocess.Popen(command, env=bench.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	watch = Watch(process.pid)
	watch.start()
	complaint = process.stderr.read()
	_, status, usage = os.wait4(process.pid, 0)
	process.returncode = os.waitstatus_to_exitcode(status)
	watch.join()
	if process.returncode:
		raise Skip("%s: %s" % (command[0], complaint.decode(errors="replace").strip()[-300:]))
	return {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.monotonic() - begin,
		"rss_anon": watch.anon, "own_cpu_s": watch.cpu}


def print_export(bench):
	title("Export of %d tasks with %d records each" % (TASKS, RECORDS_A_TASK))
	capture, summary = bench.path("life.trc"), bench.path("life.json")
	try:
		bench.run(bench.tracer, "record", "-q", "--force", "-o", capture, "--summary", summary, "--",
			  bench.program("life"), "--tasks", str(TASKS))
	except Skip as skip:
		row("capture", "skipped: " + str(skip))
		return
	with open(summary, encoding="utf-8") as file:
		figures = json.load(file)
	records = figures["records"]
	size = os.path.getsize(capture)
	result = {"records": records, "lost": figures["lost"], "capture_bytes": size, "formats": {}}
	row("capture", "%.1f MB" % (size / 1e6), "%.2f B/record" % (size / records), "%d lost" % figures["lost"])
	row("", "records/s/core", "MB", "B/record", "peak RssAnon")
	names = {"perfetto": "life.pftrace", "perfetto, zstd": "life.pftrace.zst", "perfetto, gzip": "life.pftrace.gz",
		 "text": "life.txt"}
	if bench.quick:
		del names["perfetto, gzip"]
	found = {name: [] for name in names}
	for _ in range(1 if bench.quick else 5):
		for name, file in names.items():
			out = bench.path(file)
			one = watched(bench, bench.tracer, "export", "-q", "--force", "-o", out, capture)
			one["bytes"] = os.path.getsize(out)
			os.unlink(out)
			found[name].append(one)
	for name, list_ in found.items():
		one = {key: statistics.median(x[key] for x in list_) for key in list_[0]}
		one["records_per_core_s"] = records / one["cpu_s"]
		result["formats"][name] = one
		row(name, "%.2f M" % (one["records_per_core_s"] / 1e6), "%.1f" % (one["bytes"] / 1e6),
		    "%.2f" % (one["bytes"] / records), "%.1f MB" % (one["rss_anon"] / 1e6))
	bench.result["export"] = result


EXPORT_FORMATS = {"perfetto": ".pftrace", "chrome": ".json", "paraver": ".prv", "text": ".txt", "csv": ".csv", "sqlite": ".sqlite",
		  "folded": ".folded"}
FORMAT_TASKS = {"2 million": 130000, "8 million": 510000}


def written(path):
	"""bytes of what an export wrote, which may be a folder or have files beside it; removes it"""
	if os.path.isdir(path):
		size = sum(entry.stat().st_size for entry in os.scandir(path))
		shutil.rmtree(path)
		return size
	size = 0
	for file in glob.glob(glob.escape(os.path.splitext(path)[0]) + ".*"):
		size += os.path.getsize(file)
		os.unlink(file)
	return size


def print_formats(bench):
	title("Export formats: tasks of the bundled runtime that suspend, at two lengths")
	result = {}
	for length, tasks in FORMAT_TASKS.items():
		if bench.quick and length != "2 million":
			continue
		capture, summary = bench.path("formats.trc"), bench.path("formats.summary")
		bench.run(bench.tracer, "record", "-q", "--force", "-o", capture, "--summary", summary, "--",
			  os.path.join(bench.build, "targets/tracer-demo-runtime"), "churn", "--size", str(tasks), "--quiet")
		with open(summary, encoding="utf-8") as file:
			records = json.load(file)["records"]
		row("%s: %d records" % (length, records), "records/s/core", "MB", "peak RssAnon")
		found = {name: [] for name in EXPORT_FORMATS}
		for _ in range(1 if bench.quick else 3):
			for name, extension in EXPORT_FORMATS.items():
				out = bench.path("out-formats" + extension)
				one = watched(bench, bench.tracer, "export", "-q", "--force", "-o", out, capture)
				one["bytes"] = written(out)
				found[name].append(one)
		for name, list_ in found.items():
			one = {key: statistics.median(x[key] for x in list_) for key in list_[0]}
			one["records_per_core_s"] = records / one["cpu_s"]
			result.setdefault(name, {})[length] = one
			row(name, "%.2f M" % (one["records_per_core_s"] / 1e6), "%.1f" % (one["bytes"] / 1e6),
			    "%.1f MB" % (one["rss_anon"] / 1e6))
		os.unlink(capture)
	bench.result["formats"] = result


def tree(bench, flavour, size, turns, size_bytes, repeat):
	"""CPU and wall seconds a body: the median of @repeat trees in one process"""
	command = [bench.program("tree" + ("-disabled" if flavour == "disabled" else "")), "--size", str(size),
		   "--turns", str(turns), "--bytes", str(size_bytes), "--repeat", str(repeat)]
	if flavour == "attached":
		command = [bench.tracer, "record", "-q", "--force", "-o", bench.path("tree.trc"), "--"] + command
	lines = [json.loads(line) for line in bench.run(*command).splitlines()]
	# the first makes stacks and rings
	lines = lines[1:] or lines
	return [statistics.median(line[key] / line["bodies"] for line in lines) for key in ("cpu_s", "wall_s")]


def print_slowdown(bench):
	title("Slowdown of a Fibonacci-like tree of tasks, against TRACER_DISABLE; one worker, all points on")
	row("task's body", "µs a task", "closed", "attached", "attached, wall")
	result = []
	# turns a µs
	speed = {}
	for size_bytes in (0, 256 << 10):
		low, high = (tree(bench, "disabled", 12, turns, size_bytes, 9)[0] for turns in (1000, 11000))
		speed[size_bytes] = 10000 / ((high - low) * 1e6)
	for size_bytes in (0, 256 << 10):
		for micros, size in ((0.1, 24), (1, 22), (10, 18), (100, 14)):
			if bench.quick:
				size -= 2
			turns = max(1, round(micros * speed[size_bytes]))
			times = {"disabled": [], "closed": [], "attached": []}
			order = list(times)
			for turn in range(3 if bench.quick else 15):
				# who goes first changes, too
				for flavour in order[turn % 3:] + order[:turn % 3]:
					times[flavour].append(tree(bench, flavour, size, turns, size_bytes, 4))
			ratio = {name: [statistics.median(a[k] / b[k] for a, b in zip(list_, times["disabled"]))
					for k in (0, 1)] for name, list_ in times.items()}
			base = statistics.median(one[0] for one in times["disabled"])
			one = {"body_us": micros, "buffer_bytes": size_bytes, "task_us": base * 1e6,
			       "closed": ratio["closed"][0], "attached": ratio["attached"][0],
			       "attached_wall": ratio["attached"][1]}
			result.append(one)
			row("%g µs%s" % (micros, ", 256 KiB of its own" if size_bytes else ""), "%.2f" % one["task_us"],
			    "%.3f" % one["closed"], "%.3f" % one["attached"], "%.3f" % one["attached_wall"])
	bench.result["slowdown"] = result


def print_capture(bench):
	records = 2500000 if bench.quick else 25000000
	title("Capture of two threads that write %d million records as fast as they can" % (2 * records // 1000000))
	result = []
	row("", "lost", "M records/s", "tracer CPU s", "RssAnon", "B/record")
	for _ in range(1 if bench.quick else 3):
		one = watched(bench, bench.tracer, "record", "-q", "--force", "-o", bench.path("stress.trc"),
			      "--summary", bench.path("stress.json"), "--",
			      os.path.join(bench.build, "targets", "stress"), "--threads", "2", "--records", str(records),
			      "--kind", "task")
		with open(bench.path("stress.json"), encoding="utf-8") as file:
			one.update(json.load(file))
		one["file_bytes"] = os.path.getsize(bench.path("stress.trc"))
		os.unlink(bench.path("stress.trc"))
		result.append(one)
		row("run %d" % len(result), one["lost"], "%.1f" % (one["recorded"] / one["duration_ns"] * 1e3),
		    "%.2f" % one["own_cpu_s"], "%.1f MB" % (one["rss_anon"] / 1e6),
		    "%.2f" % (one["file_bytes"] / max(one["records"], 1)))
	bench.result["capture"] = result


def print_zones(bench):
	title("A zone: user and system time of the target; shared out among threads; figures without a trace")
	program = bench.program("zones")
	options = ["--repeat", "5" if bench.quick else "15"]
	result = {"closed": measured(bench, [program, *options]),
		  "attached": measured(bench, [program, *options], attach_tracer(bench))}
	row("", "ns a zone", "of two reads", "recorded")
	row("two readings of the cycle counter", "%.2f" % result["closed"]["two_reads_ns"], "1.00")
	for name, text in (("closed", "zones closed"), ("attached", "zones attached")):
		share = result[name].get("recorded_share")
		row(text, "%.2f" % result[name]["zone_ns"], "%.2f" % result[name]["ratio"],
		    "%.1f %%" % (100 * share) if share is not None else "")
	row("threads", *("%s" % n for n in result["attached"]["by_threads"]))
	for name in ("closed", "attached"):
		row("ns a zone, " + name, *("%.2f" % ns for ns in result[name]["by_threads"].values()))
	zones = 5000000 if bench.quick else 50000000
	one = watched(bench, bench.tracer, "record", "-q", "--stats-only", "--summary", bench.path("zones.json"), "--",
		      program, "--repeat", "1", "--pairs", str(zones // (1 + 7 * 4)))
	with open(bench.path("zones.json"), encoding="utf-8") as file:
		figures = json.load(file)
	one["zones"] = sum(zone["count"] for zone in figures["zones"])
	one["lost"] = figures["lost"]
	row("--stats-only: zones, records lost", one["zones"], one["lost"])
	row("--stats-only: tracer's RssAnon, CPU", "%.1f MB" % (one["rss_anon"] / 1e6), "%.1f s" % one["own_cpu_s"])
	result["stats_only"] = one
	bench.result["zones"] = result


def python_rounds(bench, command, rounds):
	"""memory of one process after each of several captures, one after the other"""
	target = subprocess.Popen([*command, "--wait", "--rounds", str(rounds)], env=bench.env, text=True,
				  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	lost = 0
	for _ in range(rounds):
		pid = int(target.stdout.readline().split()[1])
		# ends with the process, or when told
		ready, told = os.pipe()
		tracer = subprocess.Popen([bench.tracer, "record", "-q", "--force", "-o", bench.path("round.trc"),
					   "--summary", bench.path("round.json"), "--ready-fd", str(told),
					   "-p", str(pid)], env=bench.env, pass_fds=[told])
		os.close(told)
		if not os.read(ready, 1):
			raise Skip("the tracer does not attach")
		os.close(ready)
		target.stdin.write("\n")
		target.stdin.flush()
		target.stdout.readline()
		tracer.send_signal(2)
		tracer.wait()
		with open(bench.path("round.json"), encoding="utf-8") as file:
			lost += json.load(file)["lost"]
	result = json.loads(target.stdout.readline())
	target.stdin.close()
	target.wait()
	return result["anon_kib"], lost


def print_python(bench):
	title("Points of the Python module, less the loop around them: user and system time of the thread")
	folder = os.path.join(bench.build, "python")
	if not os.path.isdir(os.path.join(folder, "tracer")):
		raise Skip("the module is not built: python3-dev")
	bench.env["PYTHONPATH"] = folder
	zones = 200000 if bench.quick else 1000000
	command = [os.environ.get("PYTHON", "python3"), os.path.join(SRC, "tests", "bench", "zones.py"), "--zones", str(zones)]
	result = {"closed": measured(bench, command), "attached": measured(bench, command, attach_tracer(bench))}
	if not result["attached"]["enabled"]:
		raise Skip("the tracer did not reach the module")
	names = ("zone", "traced", "counter", "marker")
	row("%d each" % zones, *names)
	for name, one in result.items():
		row("ns, " + name, *("%.0f" % one[key + "_ns"] for key in names))
	anon, lost = python_rounds(bench, command, 3 if bench.quick else 5)
	result["anon_kib"], result["lost"] = anon, lost
	row("its RssAnon in MB, after each capture", *("%.2f" % (kib / 1024) for kib in anon))
	bench.result["python"] = result


def print_asio(bench):
	title("A handler of Boost.Asio, ns of CPU")
	if not asio.available(bench):
		raise Skip("no Boost.Asio when the programs were built: apt-get install libboost-dev")
	figures = asio.measure_all(bench)
	loads = list(figures)
	row("", *loads)
	for name, _, _ in asio.HEADERS:
		row(name, *("%.0f" % figures[load][name] if name in figures[load] else "" for load in loads))
	bench.result["asio"] = figures


PARTS = {"points": print_points, "zones": print_zones, "python": print_python, "disabled": print_disabled, "export": print_export, "formats": print_formats,
	 "slowdown": print_slowdown,
	 "capture": print_capture, "asio": print_asio}


def machine():
	model = "unknown"
	with open("/proc/cpuinfo", encoding="utf-8") as file:
		found = re.search(r"model name\s*: (.*)", file.read())
	if found:
		model = found.group(1)
	return {"date": time.strftime("%Y-%m-%d"), "kernel": os.uname().release, "machine": os.uname().machine,
		"cpus": os.cpu_count(), "model": model, "load": os.getloadavg()[0]}


def main():
	parser = argparse.ArgumentParser(description="Measures the tracer beside other tools.")
	parser.add_argument("--build", required=True)
	parser.add_argument("--quick", action="store_true", help="fewer repetitions: under two minutes")
	parser.add_argument("--json", metavar="FILE")
	parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
	options = parser.parse_args()
	parts = options.only.split(",")
	if not set(parts) <= set(PARTS):
		parser.error("--only takes " + ", ".join(PARTS))
	if os.geteuid():
		sys.exit("run.py: run as root: capturing needs it")
	bench = Bench(options)
	bench.result["machine"] = machine()
	print("{date}: {cpus} CPUs, {model}, Linux {kernel}, load {load:.1f}".format(**bench.result["machine"]))
	if bench.result["machine"]["load"] > 0.5:
		print("the machine does other things, too: ratios hold better than figures")
	failed = False
	try:
		for part in parts:
			try:
				PARTS[part](bench)
			except Skip as skip:
				failed = True
				print("  %s: could not be measured: %s" % (part, skip))
	finally:
		shutil.rmtree(bench.tmp, ignore_errors=True)
	if options.json:
		with open(options.json, "w", encoding="utf-8") as file:
			json.dump(bench.result, file, indent="\t")
			file.write("\n")
	return failed


if __name__ == "__main__":
	sys.exit(main())
