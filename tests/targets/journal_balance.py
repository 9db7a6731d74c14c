# SPDX-License-Identifier: BSD-2-Clause
"""journal_balance.py JOURNAL.json: does the journal of a finished run agree with itself?"""
import json
import sys

PAIRS = [
    ("task_created", "task_completed"),
    ("task_created", "task_destroyed"),
    ("task_suspended", "task_resumed"),
    ("worker_start", "worker_stop"),
    ("worker_sleep_begin", "worker_sleep_end"),
    ("worker_background_begin", "worker_background_end"),
    ("continuation_attached", "continuation_begin"),
    ("continuation_begin", "continuation_end"),
    ("lock_wait", "lock_acquired"),
    ("lock_acquired", "lock_released"),
    ("zone_begin", "zone_end"),
]


def main():
    with open(sys.argv[1]) as file:
        journal = json.load(file)
    events = journal["events"]
    wrong = [f"{a} {events.get(a, 0)}, {b} {events.get(b, 0)}" for a, b in PAIRS
             if events.get(a, 0) != events.get(b, 0)]

    def same(what, got, expected):
        if got != expected:
            wrong.append(f"{what}: {got}, expected {expected}")

    tasks, futures = journal["tasks"], journal["futures"]
    # each stay has one stop
    same("stays", tasks["begun"], tasks["suspensions"] + tasks["yields"] + tasks["completed"])
    same("names", sum(row["count"] for row in tasks["by_name"]), tasks["completed"])
    same("reasons", sum(row["count"] for row in journal["suspensions"]), tasks["suspensions"])
    same("causes", sum(row["count"] for row in journal["wakes"]), tasks["suspensions"])
    same("futures", futures["created"], futures["set"] + futures["exceptions"])
    same("continuations", futures["continuations_inline"] + futures["continuations_scheduled"],
         events["continuation_begin"])
    same("pairs", sum(row["count"] for row in journal["steals"]["pairs"]),
         journal["steals"]["count"])
    workers = [worker for process in journal["processes"] for worker in process["workers"]]
    tasks_of_workers = sum(worker["tasks"] for worker in workers)
    # a task that never changed its worker counts once; each migration adds one at most
    if not tasks["completed"] <= tasks_of_workers <= tasks["completed"] + tasks["migrations"]:
        wrong.append(f"workers' tasks: {tasks_of_workers}")
    same("workers' steals", sum(worker["steals"] for worker in workers),
         sum(worker["stolen_from"] for worker in workers))
    same("threads", sum(thread["records"] for thread in journal["threads"]),
         journal["capture"]["records"])
    for line in wrong:
        print(line)
    if not wrong and tasks["created"] > 0:
        print("balanced")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
