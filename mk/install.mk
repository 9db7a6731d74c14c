# SPDX-License-Identifier: BSD-2-Clause
# make install	PREFIX=/usr/local, below DESTDIR: command, manual pages, headers for targets

INSTALL ?= install

install: all
	$(say) INSTALL $(DESTDIR)$(PREFIX)
	$(Q)$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/include/tracer
	$(Q)$(INSTALL) $(BUILD)/tracer $(DESTDIR)$(PREFIX)/bin/tracer
	$(Q)$(INSTALL) -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)$(INSTALL) -m 644 man/*.5 $(DESTDIR)$(PREFIX)/share/man/man5
	$(Q)$(INSTALL) -m 644 usdt/tracer/*.h usdt/tracer/events.def $(DESTDIR)$(PREFIX)/include/tracer
	$(Q)$(INSTALL) -d $(DESTDIR)$(PREFIX)/share/tracer/compat/tracr $(DESTDIR)$(PREFIX)/share/tracer/compat/nlohmann
	$(Q)$(INSTALL) -m 644 probes/compat/*.h $(DESTDIR)$(PREFIX)/share/tracer/compat
	$(Q)$(INSTALL) -m 644 probes/compat/tracr/*.hpp $(DESTDIR)$(PREFIX)/share/tracer/compat/tracr
	$(Q)$(INSTALL) -m 644 probes/compat/nlohmann/*.hpp $(DESTDIR)$(PREFIX)/share/tracer/compat/nlohmann
	$(Q)if [ -d $(BUILD)/python/tracer ]; then \
		$(INSTALL) -d $(DESTDIR)$(PREFIX)/share/tracer/python/tracer; \
		$(INSTALL) -m 644 $(BUILD)/python/*.py $(DESTDIR)$(PREFIX)/share/tracer/python; \
		$(INSTALL) -m 644 $(BUILD)/python/tracer/*.* $(DESTDIR)$(PREFIX)/share/tracer/python/tracer; fi
