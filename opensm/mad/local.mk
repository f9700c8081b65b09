# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libmad.a
libmad_a_SOURCES = opensm/mad/mad.c opensm/mad/mad.h opensm/mad/xact.c opensm/mad/xact.h \
	opensm/mad/count.c opensm/mad/count.h opensm/mad/pace.c opensm/mad/pace.h \
	opensm/mad/due.c opensm/mad/due.h opensm/mad/tids.c opensm/mad/tids.h opensm/mad/mad_internal.h opensm/mad/state.c opensm/mad/tries.c
MAD_LIBS = libmad.a $(IB_LIBS)

UNIT_TESTS += tests/unit/test-mad-engine tests/unit/test-mad-window tests/unit/test-mad-ahead \
	tests/unit/test-mad-faults tests/unit/test-mad-pace tests/unit/test-mad-answers
