# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libfabric.a
libfabric_a_SOURCES = opensm/fabric/fabric.c opensm/fabric/fabric.h opensm/fabric/fabric_internal.h \
	opensm/fabric/observe.c opensm/fabric/observe.h opensm/fabric/owners.h \
	opensm/fabric/words.c opensm/fabric/words.h \
	opensm/fabric/cells.c opensm/fabric/cells.h \
	opensm/fabric/port_tables.c opensm/fabric/port_tables.h \
	opensm/fabric/mft.c opensm/fabric/mft.h opensm/fabric/ways.c opensm/fabric/ways.h \
	opensm/fabric/snapshot.c opensm/fabric/snapshot.h \
	opensm/fabric/store.c opensm/fabric/store.h opensm/fabric/store_internal.h \
	opensm/fabric/store_read.c
FABRIC_LIBS = libfabric.a $(MAD_LIBS) $(TOPO_LIBS)

UNIT_TESTS += tests/unit/test-store tests/unit/test-cells tests/unit/test-words \
	tests/unit/test-snapshot tests/unit/test-observe tests/unit/test-ways
