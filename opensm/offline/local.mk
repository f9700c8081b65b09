# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += liboffline.a
liboffline_a_SOURCES = opensm/offline/offline.c opensm/offline/offline.h opensm/offline/plan.c opensm/offline/verify.c
OFFLINE_LIBS = liboffline.a $(PLAN_LIBS) $(JSON_LIBS)
