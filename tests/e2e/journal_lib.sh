# SPDX-License-Identifier: BSD-2-Clause
# For journal.test: run a target under the tracer, then compare. The caller sets TRACER, TARGETS and
# SRC, and is in a folder of its own.

compare() { # OPTION...
	"$TARGETS/journal" j >j.json && "$TRACER" report --json x.trc >r.json &&
		python3 "$SRC/tests/e2e/compare_journal.py" r.json j.json "$@"
}

# traced PROGRAM OPTION... - the whole run; FLAVOUR: -tsan, -asan or nothing
traced() {
	rm -f j x.trc
	"$TRACER" -q -o x.trc -- "$TARGETS/tracer-demo-runtime$FLAVOUR" "$@" --journal j --quiet || return 1
	compare
}

# traced_killed PROGRAM OPTION... - up to a SIGKILL at some moment; the tracer ends by itself
traced_killed() {
	rm -f j x.trc go
	"$TARGETS/tracer-demo-runtime" "$@" --journal j --quiet --wait-file go &
	local target=$!
	. "$SRC/tests/lib.sh"
	tracer_start "$TRACER" -q -o x.trc -p "$target" || return 1
	touch go
	sleep "0.$((RANDOM % 400 + 100))"
	kill -KILL "$target"
	wait "$target" 2>/dev/null
	wait "$tracer_pid"
	compare --killed
}

# unique OPTION... - stress to its end
unique() {
	rm -f p x.trc
	"$TRACER" -q -o x.trc -- "$TARGETS/stress" "$@" --shared-progress p || return 1
	"$TARGETS/unique_check" --progress p x.trc
}

# unique_killed OPTION... - stress, which kills itself
unique_killed() {
	rm -f p x.trc
	"$TRACER" -q -o x.trc -- "$TARGETS/stress" "$@" --shared-progress p
	[ $? = 137 ] || return 1
	"$TARGETS/unique_check" --progress p x.trc
}
