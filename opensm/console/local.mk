# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libconsole.a
libconsole_a_SOURCES = opensm/console/console.c opensm/console/console.h opensm/console/console_balance.c \
	opensm/console/console_commands.c opensm/console/console_guids.c opensm/console/console_internal.h \
	opensm/console/console_manager.c opensm/console/console_perf.c opensm/console/console_ports.c \
	opensm/console/console_print.c opensm/console/console_sm.c opensm/console/console_status.c \
	opensm/console/console_words.c

UNIT_TESTS += tests/unit/test-console
tests_unit_test_console_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
