# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libsync.a
libsync_a_SOURCES = opensm/sync/sync.c opensm/sync/sync.h opensm/sync/impl.h \
	opensm/sync/tables.c opensm/sync/pkey.c opensm/sync/guids.c opensm/sync/link.c
SYNC_LIBS = libsync.a $(PLAN_LIBS) $(FABRIC_LIBS)
