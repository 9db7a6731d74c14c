# SPDX-License-Identifier: BSD-2-Clause
# make unit		every tests/unit/test_*.c, each a cmocka program of its own
# make unit-asan	the same under ASan and UBSan
# make unit-NAME	tests/unit/test_NAME.c alone; unit-asan-NAME likewise
#
# A test is linked with all of the project but main.o, and with the helpers of tests/unit (other .c).

UNIT_TESTS = $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c))
UNIT_HELPERS = $(filter-out tests/unit/test_%.c,$(wildcard tests/unit/*.c))
UNIT_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
UNIT_CFLAGS = -Itests/unit
# what is linked, relative to a build folder
UNIT_OBJS = $(filter-out user/main.o,$(SRCS:.c=.o)) $(UNIT_HELPERS:.c=.o)

.PHONY: unit unit-asan $(UNIT_TESTS:%=unit-%) $(UNIT_TESTS:%=unit-asan-%)

unit: $(UNIT_TESTS:%=unit-%)
unit-asan: $(UNIT_TESTS:%=unit-asan-%)

$(UNIT_TESTS:%=unit-%): unit-%: $(BUILD)/tests/unit/test_%
	$(say) UNIT $*
	$(Q)$<

$(UNIT_TESTS:%=unit-asan-%): unit-asan-%: $(BUILD)/asan/tests/unit/test_%
	$(say) ASAN $*
	$(Q)UBSAN_OPTIONS=print_stacktrace=1 $<

$(BUILD)/tests/unit/%.o: CFLAGS_ALL += $(UNIT_CFLAGS)

$(BUILD)/tests/unit/test_%: $(BUILD)/tests/unit/test_%.o $(UNIT_OBJS:%=$(BUILD)/%)
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/asan/%.o: %.c $(SKELS)
	$(say) ASAN-CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(UNIT_CFLAGS) $(UNIT_SANITIZE) -MMD -MP -c -o $@ $<

$(BUILD)/asan/tests/unit/test_%: $(BUILD)/asan/tests/unit/test_%.o $(UNIT_OBJS:%=$(BUILD)/asan/%)
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(UNIT_SANITIZE) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

-include $(wildcard $(BUILD)/tests/unit/*.d $(BUILD)/asan/tests/unit/*.d) \
	$(UNIT_OBJS:%.o=$(BUILD)/asan/%.d)
