# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libmad.a
libmad_a_SOURCES = opensm/mad/mad.c opensm/mad/mad.h opensm/mad/xact.c opensm/mad/xact.h \
	opensm/mad/count.c opensm/mad/count.h opensm/mad/pace.c opensm/mad/pace.h \
	opensm/mad/due.c opensm/mad/due.h opensm/mad/tids.c opensm/mad/tids.h opensm/mad/mad_internal.h opensm/mad/state.c opensm/mad/tries.c
MAD_LIBS = libmad.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-mad-engine tests/unit/test-mad-window
tests_unit_test_mad_engine_SOURCES = tests/unit/test-mad-engine.c tests/unit/mad-desk.h
tests_unit_test_mad_engine_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)
tests_unit_test_mad_window_SOURCES = tests/unit/test-mad-window.c tests/unit/mad-desk.h
tests_unit_test_mad_window_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-mad-ahead
tests_unit_test_mad_ahead_SOURCES = tests/unit/test-mad-ahead.c tests/unit/mad-desk.h
tests_unit_test_mad_ahead_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-mad-faults
tests_unit_test_mad_faults_SOURCES = tests/unit/test-mad-faults.c
tests_unit_test_mad_faults_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-mad-pace
tests_unit_test_mad_pace_SOURCES = tests/unit/test-mad-pace.c tests/unit/mad-desk.h
tests_unit_test_mad_pace_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-mad-answers
tests_unit_test_mad_answers_SOURCES = tests/unit/test-mad-answers.c tests/unit/mad-desk.h
tests_unit_test_mad_answers_LDADD = $(MAD_LIBS) $(CMOCKA_LIBS)
