# SPDX-License-Identifier: BSD-2-Clause
# The bundled targets: `make targets`; with sanitizers `make targets-tsan targets-asan`.
# Points need nothing but -I usdt: nothing of user/ is linked here, but for unique_check,
# journal_report and export_compact.

comma := ,
TARGETS = $(BUILD)/targets
TARGET_CFLAGS = -std=gnu11 $(OPT) $(WARN) -D_GNU_SOURCE -Iusdt $(CFLAGS)
TARGET_LIBS = -lpthread
DEMO_SRCS = $(wildcard tests/targets/runtime/*.c) $(wildcard tests/targets/demo/*.c)
TARGET_PROGRAMS = tracer-demo-runtime stress

.PHONY: targets targets-tsan targets-asan check-targets

targets: $(TARGET_PROGRAMS:%=$(TARGETS)/%) $(TARGET_PROGRAMS:%=$(TARGETS)/%-disabled) \
	$(TARGETS)/journal $(TARGETS)/unique_check $(TARGETS)/journal_report \
	$(TARGETS)/export_compact
targets-tsan: $(TARGET_PROGRAMS:%=$(TARGETS)/%-tsan)
targets-asan: $(TARGET_PROGRAMS:%=$(TARGETS)/%-asan)

# $(call target_flavour,suffix,flags): all programs, built with those flags
define target_flavour
$(TARGETS)/obj$(1)/%.o: tests/targets/%.c
	$$(say) CC$(1) $$<
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(TARGET_CFLAGS) $(2) -MMD -MP -c -o $$@ $$<

$(TARGETS)/tracer-demo-runtime$(1): $(DEMO_SRCS:tests/targets/%.c=$(TARGETS)/obj$(1)/%.o)
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(OPT) $(2) $$(LDFLAGS) -o $$@ $$^ $$(TARGET_LIBS)

$(TARGETS)/stress$(1): $(TARGETS)/obj$(1)/stress.o
	$$(say) LINK $$@
	$$(Q)$$(CC) $$(OPT) $(2) $$(LDFLAGS) -o $$@ $$^ $$(TARGET_LIBS)

-include $$(wildcard $(TARGETS)/obj$(1)/*.d $(TARGETS)/obj$(1)/*/*.d)
endef

$(eval $(call target_flavour,,))
$(eval $(call target_flavour,-disabled,-DTRACER_DISABLE))
$(eval $(call target_flavour,-tsan,-fsanitize=thread))
$(eval $(call target_flavour,-asan,-fsanitize=address$(comma)undefined -fno-sanitize-recover=all))

$(TARGETS)/journal: $(TARGETS)/obj/journal_dump.o
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^

$(TARGETS)/unique_check: $(BUILD)/tests/e2e/unique_check.o \
	$(filter $(BUILD)/user/base/% $(BUILD)/user/trace/%,$(OBJS))
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(LIBS)

-include $(wildcard $(BUILD)/tests/e2e/*.d)

$(TARGETS)/export_compact: $(BUILD)/tests/e2e/export_compact.o $(LIB_OBJS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(LIBS)

$(TARGETS)/journal_report: $(BUILD)/tests/e2e/journal_report.o \
	$(filter $(BUILD)/user/base/% $(BUILD)/user/trace/% $(BUILD)/user/model/% \
		$(BUILD)/user/report/%,$(OBJS))
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(LIBS)
