# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libutil.a
libutil_a_SOURCES = opensm/util/mem.c opensm/util/mem.h opensm/util/mono.h opensm/util/bisect.h opensm/util/hash.h \
	opensm/util/random.h opensm/util/raw.h opensm/util/sets.h \
	opensm/util/stride.h opensm/util/told.h opensm/util/types.h \
	opensm/util/str.c opensm/util/str.h opensm/util/file.c opensm/util/file.h \
	opensm/util/guidmap.c opensm/util/guidmap.h opensm/util/log.c opensm/util/log.h \
	opensm/util/log_ids.h opensm/util/log_internal.h opensm/util/log_record.c \
	opensm/util/log_flood.c opensm/util/log_flood.h opensm/util/log_modules.c \
	opensm/util/title.c opensm/util/title.h opensm/util/pack.c opensm/util/pack.h
UTIL_LIBS = libutil.a $(SYSTEMD_LIBS)

UNIT_TESTS += tests/unit/test-hash
tests_unit_test_hash_SOURCES = tests/unit/test-hash.c
tests_unit_test_hash_LDADD = $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-str tests/unit/test-file tests/unit/test-guidmap tests/unit/test-log
tests_unit_test_str_SOURCES = tests/unit/test-str.c
tests_unit_test_str_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_file_SOURCES = tests/unit/test-file.c
tests_unit_test_file_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_guidmap_SOURCES = tests/unit/test-guidmap.c
tests_unit_test_guidmap_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_log_SOURCES = tests/unit/test-log.c
tests_unit_test_log_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-log-flood
tests_unit_test_log_flood_SOURCES = tests/unit/test-log-flood.c
tests_unit_test_log_flood_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-title
tests_unit_test_title_SOURCES = tests/unit/test-title.c
tests_unit_test_title_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-stride tests/unit/test-sets tests/unit/test-told
tests_unit_test_sets_SOURCES = tests/unit/test-sets.c
tests_unit_test_sets_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_stride_SOURCES = tests/unit/test-stride.c
tests_unit_test_stride_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
tests_unit_test_told_SOURCES = tests/unit/test-told.c
tests_unit_test_told_LDADD = $(UTIL_LIBS) $(CMOCKA_LIBS)
