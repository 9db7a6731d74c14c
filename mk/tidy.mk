# SPDX-License-Identifier: BSD-2-Clause
# make format	puts every C file into the tree's format
# make tidy	says what is not in it, and what clang-tidy finds

CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
# The headers for targets and the event list are tables and assembly, laid out by hand.
FORMATTED = $(wildcard user/*.c user/*/*.[ch] bpf/*.bpf.c tests/unit/*.c tests/fuzz/*.c)

.PHONY: format tidy

format:
	$(Q)$(CLANG_FORMAT) -i $(FORMATTED)

tidy: $(SKELS)
	$(Q)$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)
	$(Q)$(CLANG_TIDY) --quiet $(SRCS) -- $(CFLAGS_ALL:-I$(BUILD)=-isystem $(BUILD))
