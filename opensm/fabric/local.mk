# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libfabric.a
libfabric_a_SOURCES = opensm/fabric/fabric.c opensm/fabric/fabric.h opensm/fabric/fabric_internal.h \
	opensm/fabric/observe.c opensm/fabric/observe.h opensm/fabric/owners.h \
	opensm/fabric/words.c opensm/fabric/words.h \
	opensm/fabric/cells.c opensm/fabric/cells.h \
	opensm/fabric/port_tables.c opensm/fabric/port_tables.h \
	opensm/fabric/mft.c opensm/fabric/mft.h \
	opensm/fabric/snapshot.c opensm/fabric/snapshot.h \
	opensm/fabric/store.c opensm/fabric/store.h opensm/fabric/store_internal.h \
	opensm/fabric/store_read.c
FABRIC_LIBS = libfabric.a $(MAD_LIBS) $(TOPO_LIBS)

UNIT_TESTS += tests/unit/test-store
tests_unit_test_store_SOURCES = tests/unit/test-store.c
tests_unit_test_store_LDADD = $(FABRIC_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-cells
tests_unit_test_cells_SOURCES = tests/unit/test-cells.c
tests_unit_test_cells_LDADD = $(FABRIC_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-words
tests_unit_test_words_SOURCES = tests/unit/test-words.c
tests_unit_test_words_LDADD = $(FABRIC_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-snapshot
tests_unit_test_snapshot_SOURCES = tests/unit/test-snapshot.c
tests_unit_test_snapshot_LDADD = $(FABRIC_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-observe
tests_unit_test_observe_SOURCES = tests/unit/test-observe.c
tests_unit_test_observe_LDADD = $(FABRIC_LIBS) $(CMOCKA_LIBS)
