# SPDX-License-Identifier: BSD-2-Clause
# make fuzz-trace	the reader of captures against any bytes, FUZZ_SECONDS long

FUZZ_SECONDS ?= 30
FUZZ_TRACE_SRCS = tests/fuzz/fuzz_trace.c $(wildcard user/trace/*.c) user/base/say.c user/base/planes.c \
	user/base/map.c user/base/pool.c

.PHONY: fuzz-trace
fuzz-trace: $(BUILD)/fuzz/trace $(BUILD)/fuzz/trace-seed
	$(Q)mkdir -p $(BUILD)/fuzz/trace.corpus
	$(Q)$(BUILD)/fuzz/trace-seed $(BUILD)/fuzz/trace.corpus/seed
	$(Q)$(BUILD)/fuzz/trace-seed $(BUILD)/fuzz/trace.corpus/seed-zstd zstd
	$(Q)$(BUILD)/fuzz/trace-seed $(BUILD)/fuzz/trace.corpus/seed-planes zstd planes
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=3072 -timeout=10 $(BUILD)/fuzz/trace.corpus

$(BUILD)/fuzz/trace: $(FUZZ_TRACE_SRCS) $(wildcard user/trace/*.h)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -Iuser -Iusdt -Ibpf \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ \
		$(FUZZ_TRACE_SRCS) -ldw -lelf -lz -lzstd -ljson-c

$(BUILD)/fuzz/trace-seed: tests/fuzz/seed_trace.c tests/unit/synth.c $(FUZZ_TRACE_SRCS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -Itests/unit -o $@ tests/fuzz/seed_trace.c tests/unit/synth.c \
		$(wildcard user/trace/*.c) user/base/say.c user/base/planes.c user/base/map.c user/base/pool.c -ldw -lelf -lz -lzstd -ljson-c -lcmocka
