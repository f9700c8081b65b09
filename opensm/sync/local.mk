# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsync.a
libsync_a_SOURCES = opensm/sync/sync.c opensm/sync/sync.h opensm/sync/sync_internal.h \
	opensm/sync/smp_sender.c opensm/sync/smp_sender.h opensm/sync/rows.c opensm/sync/rows.h opensm/sync/differ.c \
	opensm/sync/pkeys.c opensm/sync/pkeys_now.c opensm/sync/guids.c opensm/sync/slvl.c opensm/sync/link.c opensm/sync/lft.c opensm/sync/lft_now.c \
	opensm/sync/mft.c opensm/sync/mft.h opensm/sync/mft_cells.c opensm/sync/mft_due.c \
	opensm/sync/mft_internal.h
SYNC_LIBS = libsync.a $(PLAN_LIBS) $(FABRIC_LIBS) $(KEYS_LIBS)

UNIT_TESTS += tests/unit/test-sync-pkeys tests/unit/test-sync-pkeys-now tests/unit/test-sync-rows \
	tests/unit/test-sync-guids tests/unit/test-sync-slvl tests/unit/test-mft \
	tests/unit/test-mft-mend
tests_unit_test_mft_mend_SOURCES = tests/unit/test-mft-mend.c tests/lib/field.c tests/lib/field.h
tests_unit_test_mft_SOURCES = tests/unit/test-mft.c tests/lib/field.c tests/lib/field.h

# `make bench-mft && ./bench-mft 36`
EXTRA_PROGRAMS += bench-mft
bench_mft_SOURCES = tests/bench/bench-mft.c tests/lib/field.c tests/lib/field.h
bench_mft_LDADD = $(SM_LIBS) $(SIM_LIBS)
