# SPDX-License-Identifier: BSD-2-Clause
# For RUN lines and scripts: a tracer in the background, waited for without sleeping.

# tracer_start TRACER OPTION... - returns once it is attached; sets tracer_pid
tracer_start() {
	local byte fifo=.ready.$RANDOM
	mkfifo "$fifo" || return 1
	"$1" --ready-fd 9 "${@:2}" 9>"$fifo" &
	tracer_pid=$!
	# an end of file instead of the byte: it ended, and said why
	IFS= read -r -n 1 byte <"$fifo" || [ -n "$byte" ]
	local status=$?
	rm -f "$fifo"
	return $status
}

# tracer_stop [SIGNAL] - ends it as a user would; returns its status
tracer_stop() {
	kill -"${1:-INT}" "$tracer_pid"
	wait "$tracer_pid"
}
