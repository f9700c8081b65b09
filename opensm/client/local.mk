# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libclient.a
libclient_a_SOURCES = opensm/client/client.c opensm/client/client.h opensm/client/js.c opensm/client/js.h
