# SPDX-License-Identifier: BSD-2-Clause
# make probes	libraries that a runtime loads: build/libtracer_ompt.so (OpenMP), build/libtracer_itt.so (ITT, oneTBB)
#
# They need nothing but libc, neither to build nor to run; with `make` they are built beside the command.

PROBE_CFLAGS = -std=gnu11 $(OPT) $(WARN) -D_GNU_SOURCE -Iusdt -fPIC -fvisibility=hidden $(CFLAGS)
PROBE_DEPS = $(wildcard probes/*/*.h usdt/tracer/*)
OMPT_SRCS = $(filter-out %/example.c,$(wildcard probes/openmp/*.c)) probes/code/code_name.c
ITT_SRCS = $(filter-out %/example.c,$(wildcard probes/itt/*.c)) probes/code/code_name.c
PROBE_LIBS = $(BUILD)/libtracer_ompt.so $(if $(wildcard probes/itt/*.c),$(BUILD)/libtracer_itt.so)

.PHONY: probes
all: probes
probes: $(PROBE_LIBS)

$(BUILD)/libtracer_ompt.so: $(OMPT_SRCS) $(PROBE_DEPS)
	$(say) LIB $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PROBE_CFLAGS) -shared -Wl,-soname,$(@F) $(LDFLAGS) -o $@ $(OMPT_SRCS) -lpthread -ldl

$(BUILD)/libtracer_itt.so: $(ITT_SRCS) $(PROBE_DEPS)
	$(say) LIB $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PROBE_CFLAGS) -fexceptions -shared -Wl,-soname,$(@F) -Wl,-z,nodelete $(LDFLAGS) -o $@ $(ITT_SRCS) -lpthread -ldl

PROBE_HEADERS = $(wildcard probes/boost-fiber/*.hpp probes/taskflow/*.hpp probes/coroutine/*.hpp)

.PHONY: install-probes
install: install-probes
install-probes: probes
	$(Q)$(INSTALL) -d $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include/tracer
	$(Q)$(INSTALL) -m 755 $(PROBE_LIBS) $(DESTDIR)$(PREFIX)/lib
	$(Q)$(if $(PROBE_HEADERS),$(INSTALL) -m 644 $(PROBE_HEADERS) $(DESTDIR)$(PREFIX)/include/tracer)
