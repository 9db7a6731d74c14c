# SPDX-License-Identifier: BSD-2-Clause
# The specs of probes/, as strings in the command: nothing is needed beside it.

SPECS = $(wildcard probes/*.probes)

$(BUILD)/user/spec/builtin.o $(BUILD)/asan/user/spec/builtin.o: $(BUILD)/probes/builtin.h

$(BUILD)/probes/builtin.h: $(SPECS) mk/spec.mk
	$(say) SPECS $@
	$(Q)mkdir -p $(@D)
	$(Q){ echo 'static const struct spec_builtin builtins[] = {'; \
		for f in $(SPECS); do name=$${f##*/}; echo "{\"$${name%.probes}\","; \
		sed -e 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/^/"/; s/$$/\\n"/' $$f; echo '},'; done; \
		echo '{0, 0}};'; } > $@
