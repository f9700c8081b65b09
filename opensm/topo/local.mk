# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libtopo.a
libtopo_a_SOURCES = opensm/topo/topo.c opensm/topo/topo.h
TOPO_LIBS = libtopo.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-topo
tests_unit_test_topo_SOURCES = tests/unit/test-topo.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_topo_LDADD = $(TOPO_LIBS) $(CMOCKA_LIBS)
