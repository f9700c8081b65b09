# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libapi.a
libapi_a_SOURCES = opensm/api/control_method.c opensm/api/control_method.h opensm/api/daemon_api.c \
	opensm/api/daemon_api.h opensm/api/fields.c opensm/api/fields.h opensm/api/json.c opensm/api/json.h \
	opensm/api/schema.c opensm/api/schema.h \
	opensm/api/security.c opensm/api/security.h
FRONT_LIBS = libconsole.a libcontrol.a libshow.a libmetrics.a libplugin.a libdump.a libapi.a libperf.a libcongestion.a $(SM_LIBS) \
	$(INI_LIBS) $(IBMAD_LIBS) $(JSON_LIBS)

UNIT_TESTS += tests/unit/test-security
tests_unit_test_security_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)
