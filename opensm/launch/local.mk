# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += liblaunch.a
liblaunch_a_SOURCES = opensm/launch/sysconfig.c opensm/launch/sysconfig.h \
	opensm/launch/choose.c opensm/launch/choose.h opensm/launch/paths.c opensm/launch/paths.h \
	opensm/launch/ports.c opensm/launch/ports.h opensm/launch/seed.c opensm/launch/seed.h \
	opensm/launch/journal.c opensm/launch/journal.h opensm/launch/gather.c opensm/launch/gather.h \
	opensm/launch/instance.c opensm/launch/instance.h opensm/launch/clash.c opensm/launch/clash.h \
	opensm/launch/unit.c opensm/launch/unit.h opensm/launch/launcher.c opensm/launch/launcher.h \
	opensm/launch/report.c
liblaunch_a_CPPFLAGS = $(AM_CPPFLAGS) -DOPENSM_PROGRAM='"$(sbindir)/opensm"'
LAUNCH_LIBS = liblaunch.a $(INI_LIBS) $(CONF_LIBS) $(SYSTEMD_LIBS) $(JSON_LIBS)

libexec_PROGRAMS = libexec/opensm-launch
libexec_opensm_launch_SOURCES = opensm/launch/main.c
libexec_opensm_launch_LDADD = $(LAUNCH_LIBS)

UNIT_TESTS += tests/unit/test-sysconfig tests/unit/test-choose tests/unit/test-launch
tests_unit_test_sysconfig_LDADD = $(LAUNCH_LIBS) $(CMOCKA_LIBS)
tests_unit_test_choose_LDADD = $(LAUNCH_LIBS) $(CMOCKA_LIBS)
tests_unit_test_launch_LDADD = $(LAUNCH_LIBS) $(CMOCKA_LIBS)
