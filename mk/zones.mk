# SPDX-License-Identifier: BSD-2-Clause
# Targets with zones, markers, and the headers of probes/compat: a part of `make targets`.

ZONES = $(TARGETS)/zones
ZONES_DEPS = $(wildcard usdt/tracer/*)
COMPAT_DEPS = $(ZONES_DEPS) $(wildcard probes/compat/*.h probes/compat/*/*.hpp)
COMPAT_CXXFLAGS = $(OPT) $(WARN) -Iprobes/compat -Iusdt $(CFLAGS)

targets: $(ZONES)/zones $(ZONES)/markers $(ZONES)/channels $(ZONES)/exceptions \
	$(ZONES)/compat_tracr $(ZONES)/compat_tracr-off $(ZONES)/compat_instprof $(ZONES)/compat_instprof-off

# longjmp and the end of a thread are to leave zones behind, so without what would run cleanups then
$(ZONES)/%: tests/targets/zones/%.c $(ZONES_DEPS)
	$(say) CC $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_CFLAGS) -fno-exceptions -fno-asynchronous-unwind-tables $(LDFLAGS) -o $@ $< $(TARGET_LIBS)

$(ZONES)/exceptions: tests/targets/zones/exceptions.cc $(ZONES_DEPS)
	$(say) CXX $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++11 $(OPT) $(WARN) -Iusdt $(CFLAGS) $(LDFLAGS) -o $@ $<

# $(call compat,name,standard,switch that turns it on)
define compat
$(ZONES)/compat_$(1): tests/targets/zones/compat_$(1).cc $(COMPAT_DEPS)
	$$(say) CXX $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=$(2) $(3) $(COMPAT_CXXFLAGS) $$(LDFLAGS) -o $$@ $$< $(TARGET_LIBS)

$(ZONES)/compat_$(1)-off: tests/targets/zones/compat_$(1).cc $(COMPAT_DEPS)
	$$(say) CXX $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=$(2) $(COMPAT_CXXFLAGS) $$(LDFLAGS) -o $$@ $$< $(TARGET_LIBS)
endef

$(eval $(call compat,tracr,c++17,-DENABLE_TRACR))
$(eval $(call compat,instprof,c++20,-DIP_ENABLE=1))
