# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libtopo.a
libtopo_a_SOURCES = opensm/topo/topo.c opensm/topo/topo_rates.c opensm/topo/topo.h opensm/topo/topo_pack.c opensm/topo/topo_pack.h opensm/topo/names.c opensm/topo/names.h opensm/topo/topofile.c opensm/topo/topofile.h \
	opensm/topo/topofile_internal.h opensm/topo/topofile_read.c opensm/topo/topofile_join.c opensm/topo/topofile_rows.c \
	opensm/topo/rails/rails.c opensm/topo/rails/rails.h opensm/topo/rails/rails_text.c \
	opensm/topo/expect.c opensm/topo/expect.h opensm/topo/expect_internal.h opensm/topo/formats/expect_file.c opensm/topo/expect_file.h \
	opensm/topo/formats/by_name.c opensm/topo/formats/by_name.h opensm/topo/formats/expect_csv.c opensm/topo/formats/expect_ndt.c \
	opensm/topo/formats/expect_topo.c opensm/topo/formats/expect_write.c opensm/topo/expect_resolve.c opensm/topo/expect_compare.c opensm/topo/expect_nodes.c opensm/topo/expect_cables.c \
	opensm/topo/expect_regions.c opensm/topo/expect_report.c opensm/topo/expect_text.c \
	opensm/topo/expect_judge.c opensm/topo/expect_accept.c
TOPO_LIBS = libtopo.a libconf.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-names tests/unit/test-rails tests/unit/test-topo \
	tests/unit/test-topofile tests/unit/test-expect tests/unit/test-expect-topo tests/unit/test-expect-ndt \
	tests/unit/test-expect-random
tests_unit_test_topo_SOURCES = tests/unit/test-topo.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_topofile_SOURCES = tests/unit/test-topofile.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_expect_random_SOURCES = tests/unit/test-expect-random.c tests/unit/expect-desk.h tests/lib/topogen.c tests/lib/topogen.h
