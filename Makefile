# SPDX-License-Identifier: BSD-2-Clause
# make            build/tracer
# make check      every test; installs what it needs from Debian
# make demo       traces the bundled runtime, leaves demo.pftrace
# make bench      measurements beside those of other tools
# V=1 shows commands.

BUILD ?= build
PREFIX ?= /usr/local
CC ?= gcc
CXX ?= g++
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

ifeq ($(V),1)
Q =
say = @:
else
Q = @
say = @printf '  %-8s %s\n'
endif

ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
MULTIARCH := $(shell $(CC) -print-multiarch)
WARN = -Wall -Wextra -Werror
OPT ?= -O2 -g
CFLAGS_ALL = -std=gnu11 $(OPT) $(WARN) -D_GNU_SOURCE -Iuser -Iusdt -Ibpf -I$(BUILD) $(CFLAGS)
LIBS = -lbpf -ldw -lelf -lz -lzstd -ldeflate -ljson-c -lsqlite3 -lm -lpthread

STAGES = base spec capture trace model export report cmd
SRCS = user/main.c $(foreach s,$(STAGES),$(wildcard user/$(s)/*.c))
OBJS = $(SRCS:%.c=$(BUILD)/%.o)
LIB_OBJS = $(filter-out $(BUILD)/user/main.o,$(OBJS))
BPF_SRCS = $(wildcard bpf/*.bpf.c)
SKELS = $(BPF_SRCS:bpf/%.bpf.c=$(BUILD)/bpf/%.skel.h)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all clean check demo bench install deps

all: $(BUILD)/tracer

$(BUILD)/tracer: $(OBJS)
	$(say) LINK $@
	$(Q)$(CC) $(OPT) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c $(SKELS)
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(say) BPF $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -mcpu=v3 --target=bpf -D__TARGET_ARCH_$(ARCH) -I/usr/include/$(MULTIARCH) \
		$(WARN) -Wno-unused-parameter -Iusdt -Ibpf -MMD -MP -c -o $@ $<

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

include $(wildcard mk/*.mk)
-include $(OBJS:.o=.d) $(wildcard $(BUILD)/bpf/*.d)

clean:
	$(Q)rm -rf $(BUILD)
