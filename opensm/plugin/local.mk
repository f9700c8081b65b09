# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libplugin.a
libplugin_a_SOURCES = opensm/plugin/plugin.c opensm/plugin/plugin.h opensm/plugin/plugin_api.c \
	opensm/plugin/plugin_file.c opensm/plugin/plugin_file.h opensm/plugin/plugin_internal.h
libplugin_a_CPPFLAGS = $(AM_CPPFLAGS) -DOPENSM_PLUGIN_DIR='"$(pkglibdir)"'

UNIT_TESTS += tests/unit/test-plugin
tests_unit_test_plugin_LDADD = $(FRONT_LIBS) $(CMOCKA_LIBS) -ldl
