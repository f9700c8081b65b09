# SPDX-License-Identifier: BSD-2-Clause
# What others compile against, and samples of it.
opensmincludedir = $(includedir)/opensm
opensminclude_HEADERS = include/opensm/event_plugin.h include/opensm/routing_plugin.h
samplesdir = $(docdir)/samples
dist_samples_DATA = include/opensm/samples/README.md include/opensm/samples/event_log.c \
	include/opensm/samples/shortest_path.c
