# SPDX-License-Identifier: BSD-2-Clause
# The simulator for other people's programs. Only ibfab needs libfuse3; nothing of it is installed.
noinst_LIBRARIES += libserve.a
libserve_a_SOURCES = libvendor/sim/serve/ufile.h libvendor/sim/serve/ufile.c \
	libvendor/sim/serve/seats.h libvendor/sim/serve/seats.c libvendor/sim/serve/tree.h \
	libvendor/sim/serve/tree.c libvendor/sim/serve/control.h libvendor/sim/serve/control.c \
	libvendor/sim/serve/vclock.h
SERVE_LIBS = libserve.a $(SIM_LIBS)

ibfab_sources = libvendor/sim/serve/main.c libvendor/sim/serve/fs.h libvendor/sim/serve/fs.c \
	libvendor/sim/serve/caller.h libvendor/sim/serve/caller.c libvendor/sim/serve/enter.h \
	libvendor/sim/serve/enter.c
if HAVE_FUSE3
CHECK_TOOLS += libvendor/sim/serve/ibfab
libvendor_sim_serve_ibfab_SOURCES = $(ibfab_sources)
libvendor_sim_serve_ibfab_CPPFLAGS = $(AM_CPPFLAGS) $(FUSE3_CFLAGS)
libvendor_sim_serve_ibfab_LDADD = $(SERVE_LIBS) $(FUSE3_LIBS)
endif

UNIT_TESTS += tests/unit/test-serve
tests_unit_test_serve_SOURCES = tests/unit/test-serve.c tests/unit/sim-probe.h
tests_unit_test_serve_LDADD = $(SERVE_LIBS) $(CMOCKA_LIBS)
