# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libledger.a
libledger_a_SOURCES = opensm/ledger/ledger.c opensm/ledger/ledger.h opensm/ledger/ledger_row.c opensm/ledger/ledger_row.h \
	opensm/ledger/ledger_join.c opensm/ledger/ledger_tables.c opensm/ledger/ledger_tables.h opensm/ledger/store.c opensm/ledger/store.h
LEDGER_LIBS = libledger.a $(UTIL_LIBS) $(SQLITE_LIBS)

UNIT_TESTS += tests/unit/test-ledger tests/unit/test-ledger-pack tests/unit/test-ledger-merge \
	tests/unit/test-ledger-store

# What rows cost: `make bench-ledger && ./bench-ledger 1000000 /tmp/ledger.db`.
EXTRA_PROGRAMS += bench-ledger
bench_ledger_SOURCES = tests/bench/bench-ledger.c
bench_ledger_LDADD = $(LEDGER_LIBS)
