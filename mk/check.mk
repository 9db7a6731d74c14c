# SPDX-License-Identifier: BSD-2-Clause
# make check	every test; TESTS="refusals unit/" only those
# make demo	a run of the bundled runtime, traced: demo.pftrace, and its figures
#
# What is missing is installed first, by a make of its own: this one has looked for compilers already.

SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
TESTS ?=

.PHONY: demo-run

deps:
	$(Q)tools/deps.sh test

check: deps
	$(Q)$(MAKE) --no-print-directory all targets $(UNIT_TESTS:%=$(BUILD)/tests/unit/test_%) \
		$(UNIT_TESTS:%=$(BUILD)/asan/tests/unit/test_%)
	$(Q)$(SUDO) tests/run --build $(BUILD) $(TESTS)

demo:
	$(Q)tools/deps.sh build
	$(Q)$(MAKE) --no-print-directory demo-run

# --force: the file is the demo's own of the time before
demo-run: all targets
	$(Q)$(SUDO) $(BUILD)/tracer --force -o demo.pftrace --report -- \
		$(TARGETS)/tracer-demo-runtime fib --size 20 --work 170000
	$(Q)echo "demo.pftrace: open it at https://ui.perfetto.dev"
