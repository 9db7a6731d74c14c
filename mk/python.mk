# SPDX-License-Identifier: BSD-2-Clause
# make python	the Python module: build/python, for PYTHONPATH; a part of `make`
#
# PYTHON=python3.12 builds for that one instead of the first python3 on the path; several may lie beside each
# other. Without Python's headers (python3-dev) nothing is built, and said so.

PYTHON ?= python3
PYTHON_FOLDER = $(BUILD)/python
PYTHON_C = $(wildcard probes/python/tracer/*.c)
PYTHON_FILES = $(patsubst probes/python/%,$(PYTHON_FOLDER)/%,$(wildcard probes/python/tracer/*.py \
	probes/python/tracer/*.pyi probes/python/tracer/py.typed probes/python/*.py probes/python/*.pyi))
# headers' folder, and how the file's name ends; nothing if one of them is missing
PYTHON_ASKED := $(shell $(PYTHON) -c 'import os, sysconfig; folder = sysconfig.get_path("include"); \
	print(folder, sysconfig.get_config_var("EXT_SUFFIX")) if os.path.exists(folder + "/Python.h") else 0' 2>/dev/null)
PYTHON_INCLUDE = $(word 1,$(PYTHON_ASKED))
PYTHON_MODULE = $(PYTHON_FOLDER)/tracer/_tracer$(word 2,$(PYTHON_ASKED))

.PHONY: python python-missing

ifeq ($(words $(PYTHON_ASKED)),2)
python: $(PYTHON_MODULE) $(PYTHON_FILES)
else
python: python-missing
endif
all: python

python-missing:
	$(say) SKIP "Python module: no headers of $(PYTHON) (Debian: python3-dev; or PYTHON=...)"

$(PYTHON_MODULE): $(PYTHON_C) $(wildcard probes/python/tracer/*.h usdt/tracer/*)
	$(say) PYTHON $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(OPT) $(WARN) $(CFLAGS) -fPIC -shared -fvisibility=hidden -Iusdt \
		-isystem $(PYTHON_INCLUDE) $(LDFLAGS) -o $@ $(PYTHON_C)

$(PYTHON_FOLDER)/%: probes/python/%
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@
