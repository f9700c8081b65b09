# SPDX-License-Identifier: BSD-2-Clause
# `make check TESTS=...` builds the programs that are named, and those that scripts among them use; `make check` builds all.
# Included behind automake's rules, which do not know this.
ifeq ($(origin TESTS),command line)
ifneq ($(origin check_PROGRAMS),command line)
asked_programs := $(filter $(check_PROGRAMS),$(TESTS))
asked_tools := $(if $(filter-out $(asked_programs),$(TESTS)),$(CHECK_TOOLS))
check-am: check_PROGRAMS := $(asked_programs) $(asked_tools)
AM_MAKEFLAGS += check_PROGRAMS='$(asked_programs) $(asked_tools)'
endif
endif
