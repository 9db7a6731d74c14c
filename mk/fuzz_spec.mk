# SPDX-License-Identifier: BSD-2-Clause
# make fuzz-spec	the reader of probe specs against any text, FUZZ_SECONDS long

FUZZ_SECONDS ?= 30
FUZZ_SPEC_SRCS = tests/fuzz/fuzz_spec.c $(addprefix user/spec/,lexer.c parser.c pattern.c resolve.c events.c) \
	user/base/say.c

.PHONY: fuzz-spec
fuzz-spec: $(BUILD)/fuzz/spec
	$(Q)mkdir -p $(BUILD)/fuzz/spec.corpus
	$(Q)cp probes/*.probes $(BUILD)/fuzz/spec.corpus/
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 $(BUILD)/fuzz/spec.corpus

$(BUILD)/fuzz/spec: $(FUZZ_SPEC_SRCS) $(wildcard user/spec/*.h bpf/spec.h)
	$(say) FUZZ $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -Iuser -Iusdt -Ibpf \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(FUZZ_SPEC_SRCS) -ldl
