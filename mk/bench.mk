# SPDX-License-Identifier: BSD-2-Clause
# make bench	measurements beside those of other tools (docs/benchmarks.md); QUICK=1 in two minutes,
#		BENCH_JSON=FILE keeps the figures, BENCH="points export" measures only those
#
# What is missing is installed first; a tool that cannot be had is left out, with the reason.

BENCH_FOLDER = $(BUILD)/bench
BENCH_CFLAGS = -std=gnu11 $(OPT) $(WARN) -D_GNU_SOURCE -Iusdt $(CFLAGS)
BENCH_PROGRAMS = pair zones pair_function pair_uftrace life tree tree-disabled
RUNTIME_SRCS = $(wildcard tests/targets/runtime/*.c)
BENCH ?=

.PHONY: bench-run bench-programs

bench:
	$(Q)tools/deps.sh bench
	$(Q)$(MAKE) --no-print-directory bench-run

bench-programs: $(BENCH_PROGRAMS:%=$(BENCH_FOLDER)/%)

bench-run: all targets bench-programs
	$(Q)$(SUDO) tests/bench/run.py --build $(BUILD) $(if $(QUICK),--quick) \
		$(if $(BENCH_JSON),--json $(BENCH_JSON)) $(if $(BENCH),--only $(subst $(space),$(comma),$(strip $(BENCH))))

space := $(subst ,, )
BENCH_DEPS = $(wildcard tests/bench/*.h tests/targets/runtime/*.h usdt/tracer/*)
# $(call bench_program,name,sources,flags)
define bench_program
$(BENCH_FOLDER)/$(1): $(2) $(BENCH_DEPS)
	$$(say) CC $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(BENCH_CFLAGS) $(3) $$(LDFLAGS) -o $$@ $(2) -lpthread
endef

$(eval $(call bench_program,pair,tests/bench/pair.c))
$(eval $(call bench_program,zones,tests/bench/zones.c))
$(eval $(call bench_program,pair_function,tests/bench/pair_function.c))
$(eval $(call bench_program,pair_uftrace,tests/bench/pair_function.c,-pg -DONE_FUNCTION))
$(eval $(call bench_program,life,tests/bench/life.c))
$(eval $(call bench_program,tree,tests/bench/tree.c $(RUNTIME_SRCS)))
$(eval $(call bench_program,tree-disabled,tests/bench/tree.c $(RUNTIME_SRCS),-DTRACER_DISABLE))
