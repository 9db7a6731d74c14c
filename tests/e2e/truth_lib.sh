# SPDX-License-Identifier: BSD-2-Clause
# For truth.test: the bundled runtime under the tracer, its journal and the Perfetto trace compared event
# by event. The caller sets TRACER, TARGETS and SRC, and is in a folder of its own.

EVENTS=${EVENTS:-65536} # journalled of each thread; the file is sparse

# truth TRACKS OPTION... - export what was captured, compare; `compact` is lanes as in large traces
truth() {
	local tracks=$1
	shift
	if [ "$tracks" = compact ]; then
		"$TARGETS/export_compact" x.trc x.pftrace
	else
		"$TRACER" export -q --force -f perfetto --tracks "$tracks" -o x.pftrace x.trc
	fi &&
		python3 -B "$SRC/tests/e2e/truth.py" "$@" x.pftrace events
}

# traced PROGRAM OPTION... - a whole run, with both sorts of rows, and as large traces are written
traced() {
	rm -f j x.trc
	"$TRACER" -q -o x.trc -- "$TARGETS/tracer-demo-runtime" "$@" --journal j --journal-events "$EVENTS" \
		--quiet && "$TARGETS/journal" --events j >events || return 1
	for tracks in ${TRACKS:-task compact}; do
		truth "$tracks" || { echo "in $*, --tracks=$tracks"; return 1; }
	done
}

# traced_killed PROGRAM OPTION... - up to a SIGKILL at some moment; again if a busy machine let nothing happen
traced_killed() {
	for _ in 1 2 3 4 5; do
		killed "$@" || return 1
		[ "$(wc -l <events)" -lt 1000 ] || break
	done
	truth lanes --killed || { echo "in $*"; return 1; }
}

killed() {
	rm -f j x.trc go
	"$TARGETS/tracer-demo-runtime" "$@" --journal j --journal-events "$EVENTS" --quiet --wait-file go &
	local target=$!
	. "$SRC/tests/lib.sh"
	tracer_start "$TRACER" -q -o x.trc -p "$target" || return 1
	touch go
	sleep "0.$((RANDOM % 100 + 100))"
	kill -KILL "$target"
	wait "$target" 2>/dev/null
	wait "$tracer_pid"
	"$TARGETS/journal" --events j >events
}
