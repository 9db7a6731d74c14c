# SPDX-License-Identifier: BSD-2-Clause
# make check-old-kernel	the tracer on Debian's own kernel, in an emulator: some minutes, see tests/README.md

.PHONY: check-old-kernel

check-old-kernel: all targets
	$(Q)tests/qemu/run --build $(BUILD)
