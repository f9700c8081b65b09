# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libib.a
libib_a_SOURCES = opensm/ib/layout.h opensm/ib/attrs.c opensm/ib/attrs.h opensm/ib/mad.c opensm/ib/mad.h \
	opensm/ib/codes.c opensm/ib/codes.h opensm/ib/words.c opensm/ib/words.h \
	opensm/ib/records.c opensm/ib/records.h opensm/ib/notices.c opensm/ib/notices.h opensm/ib/port_counts.h \
	opensm/ib/ber.c opensm/ib/ber.h opensm/ib/pm.h opensm/ib/cc.h
IB_LIBS = libib.a $(UTIL_LIBS)

# libibmad is the oracle of these tests, nothing we ship calls it from here.
UNIT_TESTS += tests/unit/test-layout tests/unit/test-mad tests/unit/test-notices
ORACLE_SOURCES = tests/unit/ibmad-oracle.c tests/unit/ibmad-oracle.h
tests_unit_test_layout_SOURCES = tests/unit/test-layout.c $(ORACLE_SOURCES)
tests_unit_test_layout_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
tests_unit_test_layout_LDADD = $(IB_LIBS) $(IBMAD_LIBS) $(CMOCKA_LIBS)
tests_unit_test_mad_SOURCES = tests/unit/test-mad.c $(ORACLE_SOURCES)
tests_unit_test_mad_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
tests_unit_test_mad_LDADD = $(IB_LIBS) $(IBMAD_LIBS) $(CMOCKA_LIBS)
tests_unit_test_notices_SOURCES = tests/unit/test-notices.c $(ORACLE_SOURCES)
tests_unit_test_notices_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
tests_unit_test_notices_LDADD = $(IB_LIBS) $(IBMAD_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-ber
tests_unit_test_ber_LDADD = $(IB_LIBS) $(CMOCKA_LIBS) -lm
