#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every export format is read back by something that shares no code with its writer, and has the same counts
as the report, and as the program itself: of a program with every kind of point (tests/targets/formats), and of
the bundled runtime."""
import collections
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

TRACER, TARGETS, SRC, TMP = (os.environ[name] for name in ("TRACER", "TARGETS", "SRC", "TMP"))
FORMATS = {"perfetto": ".pftrace", "chrome": ".json", "paraver": ".prv", "text": ".txt", "sqlite": ".sqlite",
           "csv": ".csv", "folded": ".folded"}
CAPTURES = {
    "everything": ["./everything", "60"],
    "fib": [f"{TARGETS}/tracer-demo-runtime", "fib", "--size", "14", "--quiet"],
    "pipeline": [f"{TARGETS}/tracer-demo-runtime", "pipeline", "--size", "200", "--workers", "3", "--fork", "--quiet"],
    "churn": [f"{TARGETS}/tracer-demo-runtime", "churn", "--size", "3000", "--quiet"],
}


class Wrong(Exception):
    pass


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise Wrong(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def check(condition, text):
    if not condition:
        raise Wrong(text)


def same(what, wanted, got):
    """wanted and got: counts by name; only what wanted has is compared"""
    different = {key: (value, got.get(key, 0)) for key, value in wanted.items() if got.get(key, 0) != value}
    check(not different, f"{what}: wanted, got: {different}")


# Each reader returns counts under the same names

def read_report(name):
    report = json.loads(run(TRACER, "report", "--json", f"{name}.trc"))
    tasks, futures, messages = report["tasks"], report["futures"], report["messages"]
    return {
        "tasks": tasks["created"], "stays": tasks["begun"], "completed": tasks["completed"],
        "destroyed": tasks["destroyed"], "suspensions": tasks["suspensions"], "yields": tasks["yields"],
        "steals": report["steals"]["count"], "failed steals": report["steals"]["failed"],
        "zones": sum(zone["count"] for zone in report["zones"]),
        "samples": sum(counter["count"] for counter in report["counters"]),
        "sent": messages["sent"], "received": messages["received"],
        "futures": futures["created"], "sets": futures["set"],
    }, report


def read_perfetto(name):
    tally = json.loads(run("python3", f"{SRC}/tests/e2e/perfetto_check.py", f"{name}.pftrace"))
    slices, instants = tally["slices"], tally["instants"]
    figures = re.compile(r"(running|ready|suspended) tasks|active continuations|queue depth \d+|steals per s|locks?\b")
    own = {key: rows for key, rows in tally["counters"].items() if not figures.match(key)}
    return {
        "tasks": instants.get("task.created", 0), "stays": slices.get("worker.task", 0),
        "completed": instants.get("task.completed", 0), "destroyed": instants.get("task.destroyed", 0),
        "yields": instants.get("task.yielded", 0), "suspensions": slices.get("task.suspended", 0),
        "steals": instants.get("steal", 0), "failed steals": instants.get("steal.failed", 0),
        "messages": instants.get("message", 0), "markers": slices.get("marker", 0),
        "frames": slices.get("frame", 0),
        "flow starts": instants.get("flow.start", 0), "flow ends": instants.get("flow.end", 0),
        "sent": instants.get("sent", 0), "received": instants.get("received", 0),
        "futures": instants.get("future.created", 0), "sets": instants.get("future.set", 0),
        "samples": sum(row["samples"] for rows in own.values() for row in rows),
    }


def no_constant(text):
    raise Wrong(f"{text} is no JSON")


def exact(text):
    """microseconds with three decimals, as nanoseconds"""
    whole, _, rest = text.partition(".")
    check(len(rest) == 3, f"{text}: three decimals")
    return int(whole) * 1000 + int(rest)


def chrome_slices(row):
    """slices of a row, (category, begin, end): each end is of the innermost that is open, by its name"""
    row.sort(key=lambda one: one[0])  # stable: what has the same time stays in the file's order
    stack, slices = [], []
    for time, event in row:
        if event["ph"] == "B":
            stack.append((time, event))
            continue
        check(stack and stack[-1][1]["name"] == event["name"], f"{event} ends what is not the innermost")
        begin, opened = stack.pop()
        slices.append((opened["cat"], begin, time))
    check(not stack, f"{stack[:1]} is left open")
    return slices


def read_chrome(name):
    with open(f"{name}.json", encoding="utf-8") as file:
        trace = json.load(file, parse_constant=no_constant, parse_float=str)
    events, categories, zones, own = trace["traceEvents"], collections.Counter(), set(), 0
    rows, flows, ends = collections.defaultdict(list), {}, 0
    check(trace["displayTimeUnit"] == "ns", "the unit to display")
    for event in events:
        phase, category = event["ph"], event.get("cat")
        time = exact(event["ts"])
        check(isinstance(event["pid"], int) and (phase == "C" or isinstance(event["tid"], int)), "pid and tid are numbers")
        if phase in "BE":
            rows[event["pid"], event["tid"]].append((time, event))
        if phase == "B":
            categories[category] += category != "zone"
            if category == "zone":
                zones.add(event["args"]["zone_id"])
        elif phase == "i":
            categories[category] += 1
        elif phase == "s":
            flows[category, event["id"]] = time
        elif phase == "f":
            check(flows.get((category, event["id"]), time + 1) <= time, f"an arrow {category} without a start before it")
            ends += 1
        elif phase == "C" and not re.match(r"(running|ready|suspended) tasks$|active cont|queue depth", event["name"]):
            own += 1
    for row in rows.values():
        chrome_slices(row)
    return {
        "tasks": categories["task.created"], "stays": categories["worker.task"],
        "completed": categories["task.completed"], "destroyed": categories["task.destroyed"],
        "yields": categories["task.yielded"], "suspensions": categories["task.suspended"],
        "steals": categories["steal"], "failed steals": categories["steal.failed"],
        "zones": len(zones), "messages": categories["message"], "markers": categories["marker"],
        "frames": categories["frame"], "flow starts": categories["flow.start"], "flow ends": categories["flow.end"],
        "sent": categories["sent"], "received": categories["received"], "samples": own,
        "futures": categories["future.created"], "sets": categories["future.set"],
        "locks": sum(categories[kind] for kind in ("lock.wait", "lock.acquired", "lock.released")),
        "arrows": ends,
    }


def read_paraver(name):
    tally = json.loads(run("python3", f"{SRC}/tests/e2e/paraver_check.py", f"{name}.prv"))
    events, values = tally["events"], tally["values"]
    count = lambda kind: events.get(str(kind), 0)
    value = lambda kind, label: values.get(str(kind), {}).get(label, 0)
    return {
        "tasks": count(9000011), "stays": count(9000003), "completed": count(9000014), "destroyed": count(9000015),
        "suspensions": count(9000005), "yields": value(9000004, "yielded"),
        "steals": count(9000030), "failed steals": count(9000031), "zones": count(9000051),
        "messages": count(9000070), "markers": count(9000061), "frames": count(9000110),
        "flow starts": value(9000080, "start"), "flow ends": value(9000080, "end"),
        "sent": count(9000100), "received": count(9000101), "locks": count(9000090),
        "futures": value(9000040, "created"), "sets": value(9000040, "set"),
        "samples": sum(n for kind, n in events.items() if 9100000 <= int(kind) < 9200000),
    }


LINE = re.compile(r'(\d+)\.(\d{9}) (\d+)/(\d+) ([a-z_0-9]+)((?: [a-z_]+=(?:"(?:[^"\\]|\\.)*"|[^ "]+))*)$')


def read_text(name):
    kinds, last, comments = collections.Counter(), 0, []
    with open(f"{name}.txt", encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.startswith("# mismatch"):
                comments.append(line.rstrip())
                continue
            match = LINE.match(line.rstrip("\n"))
            check(match, f"no line of the form that there is: {line!r}")
            time = int(match[1]) * 10**9 + int(match[2])
            check(time >= last, f"not in the order of time: {line!r}")
            last = time
            kinds[match[5]] += 1
    return {
        "tasks": kinds["task_created"], "stays": kinds["task_begin"], "completed": kinds["task_completed"],
        "destroyed": kinds["task_destroyed"], "suspensions": kinds["task_suspended"], "yields": kinds["task_yielded"],
        "steals": kinds["steal"], "failed steals": kinds["steal_failed"], "zones": kinds["zone_begin"],
        "messages": kinds["message"] + kinds["message_color"], "markers": kinds["marker_set"],
        "frames": kinds["frame"],
        "flow starts": kinds["flow_start"] + kinds["flow_shared_start"] + kinds["marker_flow_start"],
        "flow ends": kinds["flow_end"] + kinds["flow_shared_end"] + kinds["marker_flow_end"],
        "sent": kinds["sent"], "received": kinds["received"], "samples": kinds["counter"],
        "futures": kinds["future_created"], "sets": kinds["future_set"],
        "locks": kinds["lock_wait"] + kinds["lock_acquired"] + kinds["lock_released"],
        "mismatches": len(comments),
    }


QUERIES = {
    "tasks": "SELECT count(*) FROM task_events WHERE event = 'created'",
    "completed": "SELECT count(*) FROM task_events WHERE event = 'completed'",
    "destroyed": "SELECT count(*) FROM task_events WHERE event = 'destroyed'",
    "yields": "SELECT count(*) FROM task_events WHERE event = 'yielded'",
    "stays": "SELECT count(*) FROM stays",
    "suspensions": "SELECT count(*) FROM gaps WHERE kind = 'suspended'",
    "steals": "SELECT count(*) FROM steals WHERE NOT failed",
    "failed steals": "SELECT count(*) FROM steals WHERE failed",
    "zones": "SELECT count(*) FROM zones",
    "messages": "SELECT count(*) FROM messages",
    "markers": "SELECT count(*) FROM markers",
    "frames": "SELECT count(*) FROM frames",
    "flow starts": "SELECT count(*) FROM flows WHERE point = 'start'",
    "flow ends": "SELECT count(*) FROM flows WHERE point = 'end'",
    "sent": "SELECT count(*) FROM transfers WHERE event = 'sent'",
    "received": "SELECT count(*) FROM transfers WHERE event = 'received'",
    "samples": "SELECT count(*) FROM counters",
    "futures": "SELECT count(*) FROM futures WHERE event = 'created'",
    "sets": "SELECT count(*) FROM futures WHERE event = 'set'",
    "locks": "SELECT count(*) FROM locks",
}


def open_database(name):
    return sqlite3.connect(f"file:{name}.sqlite?mode=ro", uri=True)


def read_sqlite(name):
    database = open_database(name)
    check(database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "SQLite's integrity check")
    for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        database.execute(f"SELECT * FROM {view}").fetchall()
    # stays and gaps of a task neither overlap nor leave a hole between its begin and end
    holes = database.execute("SELECT count(*) FROM stays s JOIN tasks t USING (task) "
                             "WHERE s.begin_ns < t.first_ns OR s.end_ns > t.end_ns OR s.end_ns < s.begin_ns").fetchone()
    check(holes == (0,), f"{holes[0]} stays outside of their task's life")
    check(database.execute("SELECT count(*) FROM stays WHERE thread NOT IN (SELECT thread FROM threads) OR "
                           "task NOT IN (SELECT task FROM tasks)").fetchone() == (0,), "stays of nobody")
    return {key: database.execute(query).fetchone()[0] for key, query in QUERIES.items()}


def read_csv(name):
    """through an own database: the same questions to other data"""
    database = sqlite3.connect(":memory:")
    for path in sorted(glob.glob(f"{name}.csv/*.csv")):
        table = os.path.basename(path)[:-4]
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.reader(file, strict=True)
            columns = next(rows)
            database.execute(f"CREATE TABLE {table} (" + ", ".join(f'"{column}" {"INTEGER" if column == "failed" else ""}'
                                                                      for column in columns) + ")")
            for row in rows:
                check(len(row) == len(columns), f"{path}: a row of {len(row)} fields: {row}")
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return {key: database.execute(query).fetchone()[0] for key, query in QUERIES.items()}


def same_rows(name):
    """csv and sqlite hold the same values, row by row"""
    database = open_database(name)
    for path in sorted(glob.glob(f"{name}.csv/*.csv")):
        table = os.path.basename(path)[:-4]
        stored = database.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        check(len(rows) == len(stored), f"{table}: {len(rows)} rows in csv, {len(stored)} in sqlite")
        if table in ("tasks", "threads", "processes", "zones"):
            rows.sort(key=lambda row: int(row[0]))
        for text, values in zip(rows, stored):
            for one, other in zip(text, values):
                # SQLite marks what is no UTF-8 with a question mark, csv with U+FFFD
                equal = one == ("" if other is None else str(other)) or one.replace("\ufffd", "?") == str(other)
                check(equal or float(one) == float(other), f"{table}: {text} and {values}")


def read_folded(name):
    total = 0
    with open(f"{name}.folded", encoding="utf-8", newline="\n") as file:
        for line in file:
            stack, _, value = line.rstrip("\n").rpartition(" ")
            check(stack and value.isdigit() and int(value) > 0, f"no stack and number: {line!r}")
            total += int(value)
    return total


def same_folded(name, report):
    """what is on the stacks is what workers were busy with; zones outside of tasks come on top"""
    busy = sum(worker["busy_ns"] for process in report["processes"] for worker in process["workers"])
    database = open_database(name)
    outside = database.execute("SELECT coalesce(sum(end_ns - begin_ns), 0) FROM zones WHERE task IS NULL AND depth = 0"
                               ).fetchone()[0]
    # and tasks that run on threads that are no workers
    others = database.execute("SELECT coalesce(sum(s.end_ns - s.begin_ns), 0) FROM stays s JOIN threads h USING (thread) "
                              "WHERE s.inside IS NULL AND h.worker IS NULL").fetchone()[0]
    same("nanoseconds on stacks", {"ns": busy + outside + others}, {"ns": read_folded(name)})


READERS = {"perfetto": read_perfetto, "chrome": read_chrome, "paraver": read_paraver, "text": read_text,
           "sqlite": read_sqlite, "csv": read_csv}


def export(name, kind, *options):
    run(TRACER, "export", "-q", "-f", kind, "-o", name + FORMATS[kind], *options, f"{name}.trc")


def prepare():
    run("gcc", "-O2", "-I", f"{SRC}/usdt", "-o", "everything", f"{SRC}/tests/targets/formats/everything.c", "-lpthread")
    for name, command in CAPTURES.items():
        CAPTURES[name] = run(TRACER, "-q", "-o", f"{name}.trc", "--", *command)
        for kind in FORMATS:
            export(name, kind)


def counts_are_the_same(name):
    wanted, report = read_report(name)
    text = read_text(name)
    # the report has no figure for these: the text, which is the events as they are, says how many there are
    wanted.update({key: text[key] for key in ("messages", "markers", "frames", "flow starts", "flow ends", "locks")})
    check(wanted["stays"] > 0, "nothing happened")
    for kind, reader in READERS.items():
        got = reader(name)
        # perfetto_check counts parts of zones, and draws locks as slices
        left_out = ("zones", "locks") if kind == "perfetto" else ()
        same(f"{kind} of {name}", {key: value for key, value in wanted.items() if key not in left_out}, got)
    same_rows(name)
    same_folded(name, report)


def everything_is_as_it_says():
    said = json.loads(CAPTURES["everything"])
    names = {"tasks": "tasks", "stays": "stays", "suspensions": "suspensions", "zones": "zones", "messages": "messages",
             "markers": "markers", "flow starts": "flows", "flow ends": "flows", "samples": "counters",
             "steals": "steals", "sent": "transfers", "received": "transfers"}
    for kind, reader in READERS.items():
        wanted = {key: said[other] for key, other in names.items() if not (kind == "perfetto" and key == "zones")}
        same(f"{kind} and the program", wanted, reader("everything"))
    same("the program pairs all it begins", {"mismatches": 0}, read_text("everything"))
    # arrows that end: of creations, of wakings, three kinds of the program's, messages
    same("arrows", {"arrows": said["tasks"] + said["suspensions"] + said["flows"] + said["transfers"]},
         read_chrome("everything"))


def names_survive():
    wanted = {'with "quotes"', "comma, separated", "semi;colon", "new\nline\ttab", "back\\slash", "grüß €",
              "bad \ufffd\ufffd( bytes", "#comment", " spaces around ", "9 begins with a digit"}
    with open("everything.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    found = {event["name"] for event in events if event.get("cat") == "message"}
    check(wanted <= found, f"chrome: {wanted - found}")
    with open("everything.csv/messages.csv", encoding="utf-8", newline="") as file:
        found = {row["text"] for row in csv.DictReader(file)}
    check(wanted <= found, f"csv: {wanted - found}")
    found = {row[0] for row in open_database("everything").execute("SELECT DISTINCT text FROM messages")}
    wanted = {name.replace("\ufffd", "?") for name in wanted}
    check(wanted <= found, f"sqlite: {wanted - found}")
    tally = json.loads(run("python3", f"{SRC}/tests/e2e/paraver_check.py", "everything.prv"))
    found = {name.strip() for name in tally["values"]["9000070"]}
    wanted = {name.replace("\n", " ").replace("\t", " ").strip() for name in wanted}
    check(wanted <= found, f"paraver: {wanted - found}")
    check('worker, the "first"' in tally["threads"] and "channel seven" in tally["threads"], "names of Paraver's threads")


def times_are_exact():
    """the same stays, to the nanosecond, in three formats"""
    stays = sorted(open_database("fib").execute("SELECT begin_ns, end_ns FROM stays").fetchall())
    with open("fib.json", encoding="utf-8") as file:
        events = json.load(file, parse_float=str)["traceEvents"]
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "BE":
            rows[event["pid"], event["tid"]].append((exact(event["ts"]), event))
    chrome = sorted((begin, end) for row in rows.values() for category, begin, end in chrome_slices(row)
                    if category == "worker.task")
    check(chrome == stays, "chrome and sqlite differ")
    begins, ends = collections.Counter(), collections.Counter()
    with open("fib.txt", encoding="utf-8") as file:
        for line in file:
            if line.split(" ")[2] == "task_begin":
                begins[int(line.split(" ")[0].replace(".", ""))] += 1
    check(begins == collections.Counter(begin for begin, _ in stays), "text and sqlite differ")


def compressed_is_the_same():
    for kind in ("chrome", "text", "folded", "paraver"):
        plain = open(f"fib{FORMATS[kind]}", "rb").read()
        for suffix, tool in ((".gz", "gzip"), (".zst", "zstd")):
            path = f"again{FORMATS[kind]}{suffix}"
            run(TRACER, "export", "-q", "--force", "-f", kind, "-o", path, "fib.trc")
            unpacked = subprocess.run([tool, "-dc", path], capture_output=True, check=True).stdout
            check(unpacked == plain, f"{path} is not the plain file, compressed")
        if kind not in ("paraver",):
            piped = subprocess.run([TRACER, "export", "-q", "-f", kind, "-o", "-", "fib.trc"], capture_output=True,
                                   check=True).stdout
            check(piped == plain, f"{kind} to a pipe is not the same")
    run(TRACER, "export", "-q", "-o", "packed.csv.gz", "fib.trc")
    unpacked = subprocess.run(["gzip", "-dc", "packed.csv.gz/stays.csv.gz"], capture_output=True, check=True).stdout
    check(unpacked == open("fib.csv/stays.csv", "rb").read(), "csv.gz")
    run("python3", f"{SRC}/tests/e2e/paraver_check.py", "again.prv.gz")


def record_writes_them():
    """the extension says which, also to record"""
    for suffix in (".json", ".json.gz", ".prv", ".sqlite", ".csv", ".folded"):
        run(TRACER, "-q", "-o", f"direct{suffix}", "--", "./everything", "2")
    run("python3", f"{SRC}/tests/e2e/paraver_check.py", "direct.prv")
    with open("direct.json", encoding="utf-8") as file:
        check(sum(event.get("cat") == "worker.task" for event in json.load(file)["traceEvents"]) == 8, "direct.json")
    check(sqlite3.connect("direct.sqlite").execute("SELECT count(*) FROM stays").fetchone() == (8,), "direct.sqlite")
    check(len(open("direct.csv/stays.csv").readlines()) == 9, "direct.csv")
    check(not glob.glob("direct*.trc"), "captures are left behind")


def tracks_of_tasks():
    """--tracks means the same as in a Perfetto trace"""
    rows = {}
    for tracks in ("lanes", "task", "workers"):
        run(TRACER, "export", "-q", "--force", "--tracks", tracks, "-o", "tracks.json", "churn.trc")
        with open("tracks.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        runs = [event for event in events if event.get("cat") == "task.run"]
        rows[tracks] = len({event["tid"] for event in runs}), len(runs)
    wanted = read_report("churn")[0]
    check(rows["workers"] == (0, 0), f"workers: {rows}")
    check(rows["task"][1] == rows["lanes"][1] == wanted["stays"], f"runs: {rows}, {wanted['stays']} stays")
    check(rows["task"][0] == wanted["tasks"] > rows["lanes"][0], f"rows: {rows}, {wanted['tasks']} tasks")


def perfetto(path):
    """perfetto_check finds nothing wrong; its tally"""
    return json.loads(run("python3", f"{SRC}/tests/e2e/perfetto_check.py", path))


def pieces_of_perfetto():
    """each loads alone, all together have every instant once, and concatenated they are one trace"""
    size, whole = 200 << 10, perfetto("churn.pftrace")
    for suffix in ("", ".zst"):
        run(TRACER, "export", "-q", "--max-file-size", "200K", "-o", f"piece.pftrace{suffix}", "churn.trc")
        paths = sorted(glob.glob(f"piece.*.pftrace{suffix}"))
        check(len(paths) > (3 if not suffix else 0), f"only {paths}")
        check(all(os.path.getsize(path) <= size for path in paths), "a piece is too large")
        instants, sequences = collections.Counter(), 0
        for path in paths:
            tally = perfetto(path)
            instants.update(tally["instants"])
            sequences += tally["sequences"]
        same(f"{len(paths)} pieces", {key: n for key, n in whole["instants"].items() if key != "worker.start"}, instants)
        check(sequences == len(paths), "sequences")
    paths = sorted(glob.glob("piece.*.pftrace"))
    with open("all.pftrace", "wb") as out:
        for path in paths:
            with open(path, "rb") as piece:
                out.write(piece.read())
    check(perfetto("all.pftrace")["sequences"] == len(paths), "pieces concatenated share a sequence")
    refused = subprocess.run([TRACER, "export", "--max-file-size", "200K", "-o", "piece.pftrace", "churn.trc"],
                             capture_output=True, text=True)
    check(refused.returncode == 1 and "piece.0001.pftrace: is there already" in refused.stderr, refused.stderr)


def documented():
    """every table and column of the definition is in the page"""
    with open(f"{SRC}/docs/formats.md", encoding="utf-8") as file:
        page = file.read()
    database = open_database("everything")
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        row = re.search(rf"^\| `{table}` \|.*$", page, re.M)
        columns = [column[1] for column in database.execute(f"PRAGMA table_info({table})")]
        check(row and all(f"`{column}`" in row[0] for column in columns), f"docs/formats.md: {table}: {columns}")
    for (view,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
        check(f"`{view}`" in page, f"docs/formats.md: {view}")
    check(len(tables) > 20, f"{tables}")


def needs(command):
    if not shutil.which(command):
        raise FileNotFoundError(command)


def node_reads_chrome():
    needs("node")
    found = run("node", "-e", "const t = JSON.parse(require('fs').readFileSync('everything.json', 'utf8'));"
                "console.log(t.traceEvents.filter(e => e.cat == 'worker.task').length)")
    check(int(found) == read_report("everything")[0]["stays"], found)


def speedscope_folder():
    """the npm package, where `npm install -g speedscope` puts it, or as $SPEEDSCOPE says"""
    needs("node")
    folders = [os.environ.get("SPEEDSCOPE")]
    if shutil.which("npm"):
        folders.append(os.path.join(run("npm", "root", "-g").strip(), "speedscope"))
    for folder in folders:
        if folder and os.path.isdir(os.path.join(folder, "dist", "release")):
            return folder
    raise FileNotFoundError("speedscope (npm install -g speedscope, or $SPEEDSCOPE is its folder)")


def rows_of_chrome(name):
    """what there is on each row: calls, their nanoseconds, those without length; rows that speedscope misreads"""
    calls, length, empty, misread = (collections.Counter() for _ in range(4))
    stacks = collections.defaultdict(list)
    with open(f"{name}.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        row = event["pid"], event.get("tid")
        if event["ph"] == "B":
            calls[row] += 1
            stacks[row].append(event["ts"])
        elif event["ph"] == "E":
            begin = stacks[row].pop()
            span = round((event["ts"] - begin) * 1000)
            length[row] += span
            empty[row] += not span
            # of one time it takes ends first, if they are not the next begin's
            misread[row] += not span and bool(stacks[row]) and stacks[row][-1] == begin
    return calls, length, empty, misread


def speedscope_reads_chrome():
    """its own importer finds each row, and in each the same calls and the same nanoseconds"""
    folder, compared = speedscope_folder(), 0
    for name in CAPTURES:
        calls, length, empty, misread = rows_of_chrome(name)
        found = json.loads(run("node", f"{SRC}/tests/e2e/speedscope.js", folder, f"{name}.json"))
        ids = [re.search(r"\(pid (\d+)\).* \(tid (\d+)\)$", profile["name"], re.S) for profile in found]
        rows = {tuple(map(int, match.groups())): profile for match, profile in zip(ids, found) if match}
        check(len(rows) == len(found) and rows.keys() == calls.keys(), f"{name}: {rows.keys() ^ calls.keys()}")
        for row, profile in rows.items():
            count, total = sum(profile["calls"].values()), sum(profile["ns"].values())
            if misread[row]:
                continue
            check(total == length[row], f"{name} {row}: {length[row]} ns: {total}")
            # of those without length it makes one, if they follow each other
            check(calls[row] - empty[row] <= count <= calls[row], f"{name} {row}: {calls[row]} calls: {count}")
            compared += count
    check(compared > 1000, f"{compared} calls compared")


def sqlite_reads_its_database():
    needs("sqlite3")
    wanted = read_report("everything")[0]
    found = run("sqlite3", "everything.sqlite", "SELECT sum(stays), sum(count) FROM task_summary")
    check(found.strip() == f"{wanted['stays']}|{wanted['tasks']}", found)


TESTS = [
    *((f"counts are the same in all formats: {name}", lambda name=name: counts_are_the_same(name)) for name in CAPTURES),
    ("every format has what the program says it did", everything_is_as_it_says),
    ("names with quotes, commas, line breaks, and bytes that are no UTF-8", names_survive),
    ("the same nanoseconds in chrome, sqlite and text", times_are_exact),
    ("compressed, and to a pipe", compressed_is_the_same),
    ("record -o x.json, x.prv, x.sqlite, x.csv, x.folded", record_writes_them),
    ("chrome: rows of tasks as --tracks says", tracks_of_tasks),
    ("perfetto in pieces: each alone, and concatenated", pieces_of_perfetto),
    ("docs/formats.md has every table, column and view", documented),
    ("Node reads the Chrome trace", node_reads_chrome),
    ("speedscope's importer reads the Chrome trace", speedscope_reads_chrome),
    ("the sqlite3 command reads the database", sqlite_reads_its_database),
]


def main():
    if os.geteuid():
        print("skip export formats: root")
        return 0
    os.chdir(TMP)
    prepare()
    for name, test in TESTS:
        try:
            test()
            print(f"ok {name}")
        except FileNotFoundError as missing:
            if missing.errno is not None:
                raise
            print(f"skip {name}: no {missing}")
        except Wrong as wrong:
            print(f"not ok {name}: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
