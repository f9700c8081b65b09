# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libini.a
libini_a_SOURCES = opensm/ini/ini.c opensm/ini/ini.h
INI_LIBS = libini.a libutil.a -liniparser
