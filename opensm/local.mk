# SPDX-License-Identifier: BSD-2-Clause
sbin_PROGRAMS += sbin/opensm
sbin_opensm_SOURCES = opensm/main.c opensm/daemon.c opensm/daemon.h opensm/worker.c opensm/worker.h
sbin_opensm_LDADD = $(CTL_LIBS) $(UMAD_LIBS) $(IBUMAD_LIBS) $(SYSTEMD_LIBS) -lm
