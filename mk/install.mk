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
