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

UNIT_TESTS += tests/unit/test-hash tests/unit/test-str tests/unit/test-file \
	tests/unit/test-guidmap tests/unit/test-log tests/unit/test-log-flood tests/unit/test-title \
	tests/unit/test-stride tests/unit/test-sets tests/unit/test-told
