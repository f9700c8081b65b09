# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libconf.a
libconf_a_SOURCES = opensm/conf/conf.c opensm/conf/conf.h opensm/conf/options.def \
	opensm/conf/value.c opensm/conf/value.h opensm/conf/report.c \
	opensm/conf/lines.c opensm/conf/lines.h opensm/conf/read.c \
	opensm/conf/foreign.c opensm/conf/foreign.h opensm/conf/write.c opensm/conf/diff.c \
	opensm/conf/verify.c opensm/conf/advise.c opensm/conf/lists.c opensm/conf/lists.h \
	opensm/conf/names.c
CONF_LIBS = libconf.a $(IB_LIBS)
