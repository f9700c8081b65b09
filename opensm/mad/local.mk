# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libmad.a
libmad_a_SOURCES = opensm/mad/mad.c opensm/mad/mad.h opensm/mad/xact.c opensm/mad/xact.h \
	opensm/mad/count.c opensm/mad/count.h
MAD_LIBS = libmad.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-mad-engine
tests_unit_test_mad_engine_SOURCES = tests/unit/test-mad-engine.c
tests_unit_test_mad_engine_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)
