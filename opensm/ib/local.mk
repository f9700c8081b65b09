# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libib.a
libib_a_SOURCES = opensm/ib/layout.h opensm/ib/attrs.c opensm/ib/attrs.h opensm/ib/mad.c opensm/ib/mad.h \
	opensm/ib/netfile.c opensm/ib/netfile-parse.c opensm/ib/netfile.h \
	opensm/ib/netfile-names.h
IB_LIBS = libib.a $(UTIL_LIBS)
