# SPDX-License-Identifier: BSD-2-Clause

# Each target is a function of bytes; replay.c runs the corpus and mutations of it (README.md).
FUZZ_TESTS += tests/fuzz/fuzz-key-ring
check_PROGRAMS += tests/fuzz/fuzz-key-ring
tests_fuzz_fuzz_key_ring_SOURCES = tests/fuzz/fuzz-key-ring.c tests/fuzz/replay.c
tests_fuzz_fuzz_key_ring_LDADD = $(KEYS_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-ledger
check_PROGRAMS += tests/fuzz/fuzz-ledger
tests_fuzz_fuzz_ledger_SOURCES = tests/fuzz/fuzz-ledger.c tests/fuzz/replay.c
tests_fuzz_fuzz_ledger_LDADD = $(LEDGER_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-mad tests/fuzz/fuzz-store
check_PROGRAMS += tests/fuzz/fuzz-mad tests/fuzz/fuzz-store
tests_fuzz_fuzz_mad_SOURCES = tests/fuzz/fuzz-mad.c tests/fuzz/replay.c
tests_fuzz_fuzz_mad_LDADD = $(MAD_LIBS)
tests_fuzz_fuzz_store_SOURCES = tests/fuzz/fuzz-store.c tests/fuzz/replay.c
tests_fuzz_fuzz_store_LDADD = $(FABRIC_LIBS)
EXTRA_DIST += $(srcdir)/tests/fuzz/corpus tests/fuzz/kept-file.h

FUZZ_TESTS += tests/fuzz/fuzz-conf tests/fuzz/fuzz-lists
check_PROGRAMS += tests/fuzz/fuzz-conf tests/fuzz/fuzz-lists
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz-conf.c tests/fuzz/replay.c
tests_fuzz_fuzz_conf_LDADD = $(CONF_LIBS)
tests_fuzz_fuzz_lists_SOURCES = tests/fuzz/fuzz-lists.c tests/fuzz/replay.c
tests_fuzz_fuzz_lists_LDADD = $(CONF_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-netfile
check_PROGRAMS += tests/fuzz/fuzz-netfile
tests_fuzz_fuzz_netfile_SOURCES = tests/fuzz/fuzz-netfile.c tests/fuzz/replay.c
tests_fuzz_fuzz_netfile_LDADD = $(SIM_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-sm
check_PROGRAMS += tests/fuzz/fuzz-sm
tests_fuzz_fuzz_sm_SOURCES = tests/fuzz/fuzz-sm.c tests/fuzz/replay.c
tests_fuzz_fuzz_sm_LDADD = $(SM_LIBS) $(SIM_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-sa
check_PROGRAMS += tests/fuzz/fuzz-sa
tests_fuzz_fuzz_sa_SOURCES = tests/fuzz/fuzz-sa.c tests/fuzz/replay.c $(SA_DESK)
tests_fuzz_fuzz_sa_LDADD = $(SA_DESK_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-qos
check_PROGRAMS += tests/fuzz/fuzz-qos
tests_fuzz_fuzz_qos_SOURCES = tests/fuzz/fuzz-qos.c tests/fuzz/replay.c
tests_fuzz_fuzz_qos_LDADD = $(CONF_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-partitions
check_PROGRAMS += tests/fuzz/fuzz-partitions
tests_fuzz_fuzz_partitions_SOURCES = tests/fuzz/fuzz-partitions.c tests/fuzz/replay.c
tests_fuzz_fuzz_partitions_LDADD = $(PLAN_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-sadb
check_PROGRAMS += tests/fuzz/fuzz-sadb
tests_fuzz_fuzz_sadb_SOURCES = tests/fuzz/fuzz-sadb.c tests/fuzz/replay.c $(SA_DESK)
tests_fuzz_fuzz_sadb_LDADD = $(SA_DESK_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-sysconfig
check_PROGRAMS += tests/fuzz/fuzz-sysconfig
tests_fuzz_fuzz_sysconfig_SOURCES = tests/fuzz/fuzz-sysconfig.c tests/fuzz/replay.c
tests_fuzz_fuzz_sysconfig_LDADD = $(LAUNCH_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-console
check_PROGRAMS += tests/fuzz/fuzz-console
tests_fuzz_fuzz_console_SOURCES = tests/fuzz/fuzz-console.c tests/fuzz/replay.c
tests_fuzz_fuzz_console_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_fuzz_fuzz_console_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-control
check_PROGRAMS += tests/fuzz/fuzz-control
tests_fuzz_fuzz_control_SOURCES = tests/fuzz/fuzz-control.c tests/fuzz/replay.c opensm/daemon/listen_control.c opensm/daemon/stream.c \
	opensm/daemon/stream_listen.c
tests_fuzz_fuzz_control_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_fuzz_fuzz_control_LDADD = librig.a $(FRONT_LIBS) $(SIM_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-topofile
check_PROGRAMS += tests/fuzz/fuzz-topofile
tests_fuzz_fuzz_topofile_SOURCES = tests/fuzz/fuzz-topofile.c tests/fuzz/replay.c
tests_fuzz_fuzz_topofile_LDADD = $(TOPO_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-tablefile
check_PROGRAMS += tests/fuzz/fuzz-tablefile
tests_fuzz_fuzz_tablefile_SOURCES = tests/fuzz/fuzz-tablefile.c $(TABLES) tests/fuzz/replay.c tests/lib/topogen.c tests/lib/topogen.h
tests_fuzz_fuzz_tablefile_LDADD = liboffline.a $(ROUTE_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-torus
check_PROGRAMS += tests/fuzz/fuzz-torus
tests_fuzz_fuzz_torus_SOURCES = tests/fuzz/fuzz-torus.c tests/fuzz/replay.c
tests_fuzz_fuzz_torus_LDADD = $(CONF_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-route
check_PROGRAMS += tests/fuzz/fuzz-route
tests_fuzz_fuzz_route_SOURCES = tests/fuzz/fuzz-route.c $(TABLES) tests/fuzz/replay.c tests/lib/topogen.c tests/lib/topogen.h
tests_fuzz_fuzz_route_LDADD = $(ROUTE_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-life
check_PROGRAMS += tests/fuzz/fuzz-life
tests_fuzz_fuzz_life_SOURCES = tests/fuzz/fuzz-life.c tests/fuzz/replay.c $(TOPOCUT)
tests_fuzz_fuzz_life_LDADD = $(ROUTE_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-channel
check_PROGRAMS += tests/fuzz/fuzz-channel
tests_fuzz_fuzz_channel_SOURCES = tests/fuzz/fuzz-channel.c tests/fuzz/replay.c
tests_fuzz_fuzz_channel_LDADD = $(RIG_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-rest
check_PROGRAMS += tests/fuzz/fuzz-rest
tests_fuzz_fuzz_rest_SOURCES = tests/fuzz/fuzz-rest.c tests/fuzz/replay.c $(REST_FAKE)
tests_fuzz_fuzz_rest_LDADD = $(REST_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-tenants
check_PROGRAMS += tests/fuzz/fuzz-tenants
tests_fuzz_fuzz_tenants_SOURCES = tests/fuzz/fuzz-tenants.c tests/fuzz/replay.c
tests_fuzz_fuzz_tenants_LDADD = $(CONF_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-rest-http
check_PROGRAMS += tests/fuzz/fuzz-rest-http
tests_fuzz_fuzz_rest_http_SOURCES = tests/fuzz/fuzz-rest-http.c tests/fuzz/replay.c opensm/rest/setup/conf.c
tests_fuzz_fuzz_rest_http_LDADD = $(REST_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-copied
check_PROGRAMS += tests/fuzz/fuzz-copied
tests_fuzz_fuzz_copied_SOURCES = tests/fuzz/fuzz-copied.c tests/fuzz/replay.c
tests_fuzz_fuzz_copied_LDADD = $(CONF_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-expect
check_PROGRAMS += tests/fuzz/fuzz-expect
tests_fuzz_fuzz_expect_SOURCES = tests/fuzz/fuzz-expect.c tests/fuzz/replay.c
tests_fuzz_fuzz_expect_LDADD = $(TOPO_LIBS)

FUZZ_TESTS += tests/fuzz/fuzz-health
check_PROGRAMS += tests/fuzz/fuzz-health
tests_fuzz_fuzz_health_SOURCES = tests/fuzz/fuzz-health.c tests/fuzz/replay.c
tests_fuzz_fuzz_health_LDADD = $(HEALTH_LIBS)
FUZZ_TESTS += tests/fuzz/fuzz-marks
check_PROGRAMS += tests/fuzz/fuzz-marks
tests_fuzz_fuzz_marks_SOURCES = tests/fuzz/fuzz-marks.c tests/fuzz/replay.c
tests_fuzz_fuzz_marks_LDADD = $(SM_LIBS)
