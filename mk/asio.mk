# SPDX-License-Identifier: BSD-2-Clause
# The header for Asio: installed with the others; its measurements, where Boost.Asio is.

HAVE_BOOST_ASIO := $(wildcard /usr/include/boost/asio.hpp)
# reads the TSC
ASIO_STAMPS = $(if $(HAVE_BOOST_ASIO),$(if $(filter x86_64,$(shell uname -m)),stamps))
ASIO_BENCHES = $(if $(HAVE_BOOST_ASIO),none plain count disabled tracer text) $(ASIO_STAMPS)
ASIO_DEPS = $(wildcard usdt/tracer/* probes/asio/*.hpp tests/targets/asio/*.hpp)

.PHONY: install-asio
install: install-asio
install-asio:
	$(Q)$(INSTALL) -d $(DESTDIR)$(PREFIX)/include/tracer
	$(Q)$(INSTALL) -m 644 probes/asio/tracer_asio.hpp probes/asio/tracer_asio_chain.hpp \
		$(DESTDIR)$(PREFIX)/include/tracer

bench-programs: $(ASIO_BENCHES:%=$(BUILD)/bench/asio-%)

# $(call asio_bench,flavour,flags)
define asio_bench
$(BUILD)/bench/asio-$(1): tests/bench/asio_handlers.cpp $(ASIO_DEPS)
	$$(say) CXX $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=c++14 $(OPT) $(WARN) -Iusdt -Iprobes/asio -Itests/targets/asio $(2) $$(LDFLAGS) -o $$@ $$< -lpthread
endef

ASIO_OURS = -DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='<tracer_asio.hpp>'
ASIO_COUNT = -DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='<count_tracking.hpp>' -DCOUNT_QUIETLY
$(eval $(call asio_bench,none,))
$(eval $(call asio_bench,plain,$(ASIO_COUNT) -DCOUNT_PLAIN))
$(eval $(call asio_bench,count,$(ASIO_COUNT)))
$(eval $(call asio_bench,stamps,$(ASIO_COUNT) -DCOUNT_STAMPS))
$(eval $(call asio_bench,disabled,$(ASIO_OURS) -DTRACER_DISABLE))
$(eval $(call asio_bench,tracer,$(ASIO_OURS)))
$(eval $(call asio_bench,text,-DBOOST_ASIO_ENABLE_HANDLER_TRACKING -Wno-unused-result))
