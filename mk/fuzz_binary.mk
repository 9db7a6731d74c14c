# SPDX-License-Identifier: BSD-2-Clause
# make fuzz-binary	binary.c against damaged files, FUZZ_SECONDS long; needs libclang-rt-dev (or clang with its recommendations)

FUZZ_SECONDS ?= 30

.PHONY: fuzz-binary
fuzz-binary: $(BUILD)/fuzz/binary
	$(Q)mkdir -p $(BUILD)/fuzz/binary.corpus
	$(Q)cp -n $(BUILD)/fuzz/binary.seed $(BUILD)/fuzz/binary.corpus/seed
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 $(BUILD)/fuzz/binary.corpus

# The seed is a small program with points.
$(BUILD)/fuzz/binary: tests/fuzz/fuzz_binary.c user/capture/binary.c user/base/say.c
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include <tracer/tracer.h>\nint main(void) { TRACER_FRAME("x"); return 0; }\n' > $@.seed.c
	$(Q)$(CC) -s -Iusdt -o $@.seed $@.seed.c
	$(Q)$(CLANG) -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -Iuser -Iusdt -Ibpf \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -lelf
