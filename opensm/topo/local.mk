# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libtopo.a
libtopo_a_SOURCES = opensm/topo/topo.c opensm/topo/topo.h opensm/topo/topo_pack.c opensm/topo/topo_pack.h opensm/topo/topofile.c opensm/topo/topofile.h \
	opensm/topo/topofile_internal.h opensm/topo/topofile_read.c opensm/topo/topofile_join.c opensm/topo/topofile_rows.c
TOPO_LIBS = libtopo.a libconf.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-topo tests/unit/test-topofile
tests_unit_test_topo_SOURCES = tests/unit/test-topo.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_topo_LDADD = $(TOPO_LIBS) $(CMOCKA_LIBS)
tests_unit_test_topofile_SOURCES = tests/unit/test-topofile.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_topofile_LDADD = $(TOPO_LIBS) $(CMOCKA_LIBS)
