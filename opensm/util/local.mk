# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libutil.a
libutil_a_SOURCES = opensm/util/mem.c opensm/util/mem.h opensm/util/mono.h opensm/util/types.h \
	opensm/util/str.c opensm/util/str.h opensm/util/file.c opensm/util/file.h \
	opensm/util/guidmap.c opensm/util/guidmap.h opensm/util/log.c opensm/util/log.h
UTIL_LIBS = libutil.a $(SYSTEMD_LIBS)
