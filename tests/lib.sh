# SPDX-License-Identifier: BSD-2-Clause
# For RUN lines and scripts: a tracer in the background, waited for without sleeping.

# tracer_start TRACER OPTION... - returns once it is attached; sets tracer_pid
tracer_start() {
	local fifo=.ready.$RANDOM bytes
	mkfifo "$fifo" || return 1
	"$1" --ready-fd 9 "${@:2}" 9>"$fifo" &
	tracer_pid=$!
	# an end of file instead of the byte: it ended, and said why
	bytes=$(head -c 1 "$fifo" | wc -c)
	rm -f "$fifo"
	[ "$bytes" = 1 ]
}

# tracer_stop [SIGNAL] - ends it as a user would; returns its status
tracer_stop() {
	kill -"${1:-INT}" "$tracer_pid"
	wait "$tracer_pid"
}
