# SPDX-License-Identifier: BSD-2-Clause
noinst_PROGRAMS += tests/tools/netgen
tests_tools_netgen_SOURCES = tests/tools/netgen.c
tests_tools_netgen_LDADD = $(SIM_LIBS)
