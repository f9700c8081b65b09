# SPDX-License-Identifier: BSD-2-Clause
# The simulator for other people's programs. Only ibfab needs libfuse3; nothing of it is installed.
noinst_LIBRARIES += libserve.a
libserve_a_SOURCES = sim/serve/ufile.h sim/serve/ufile.c \
	sim/serve/seats.h sim/serve/seats.c sim/serve/tree.h \
	sim/serve/hosts.h sim/serve/hosts.c \
	sim/serve/tree.c sim/serve/control.h sim/serve/control.c \
	sim/serve/vclock.h sim/serve/key_files.h sim/serve/key_files.c
SERVE_LIBS = libserve.a $(SIM_LIBS) $(KEYS_LIBS) $(LEDGER_LIBS)

ibfab_sources = sim/serve/main.c sim/serve/fs.h sim/serve/fs.c \
	sim/serve/caller.h sim/serve/caller.c sim/serve/enter.h \
	sim/serve/enter.c
if HAVE_FUSE3
CHECK_TOOLS += sim/serve/ibfab
sim_serve_ibfab_SOURCES = $(ibfab_sources)
sim_serve_ibfab_CPPFLAGS = $(AM_CPPFLAGS) $(FUSE3_CFLAGS)
sim_serve_ibfab_LDADD = $(SERVE_LIBS) $(FUSE3_LIBS)
endif

UNIT_TESTS += tests/unit/test-serve
tests_unit_test_serve_LDADD = $(SERVE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-serve-keys
tests_unit_test_serve_keys_LDADD = $(SERVE_LIBS) $(CMOCKA_LIBS)
