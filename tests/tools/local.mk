# SPDX-License-Identifier: BSD-2-Clause
noinst_PROGRAMS += tests/tools/netgen
tests_tools_netgen_SOURCES = tests/tools/netgen.c
tests_tools_netgen_LDADD = $(SIM_LIBS)

noinst_PROGRAMS += tests/tools/sahost
tests_tools_sahost_SOURCES = tests/tools/sahost.c
tests_tools_sahost_CPPFLAGS = $(AM_CPPFLAGS) $(IBUMAD_CFLAGS)
tests_tools_sahost_LDADD = $(IB_LIBS) $(IBUMAD_LIBS)

noinst_PROGRAMS += tests/tools/notify-sink
tests_tools_notify_sink_SOURCES = tests/tools/notify-sink.c

noinst_PROGRAMS += tests/tools/smset
tests_tools_smset_SOURCES = tests/tools/smset.c
tests_tools_smset_CPPFLAGS = $(AM_CPPFLAGS) $(IBUMAD_CFLAGS)
tests_tools_smset_LDADD = $(IB_LIBS) $(IBUMAD_LIBS)

noinst_PROGRAMS += tests/tools/tenant-storm
tests_tools_tenant_storm_SOURCES = tests/tools/tenant-storm.c
tests_tools_tenant_storm_LDADD = libclient.a $(UTIL_LIBS) $(JSON_LIBS)

EXTRA_DIST += tests/tools/rest-replay

noinst_PROGRAMS += tests/tools/attack-host
tests_tools_attack_host_SOURCES = tests/tools/attack-host.c tests/lib/attack-mads.c tests/lib/attack.h
tests_tools_attack_host_LDADD = $(UMAD_LIBS)

noinst_PROGRAMS += tests/tools/path-asker
tests_tools_path_asker_SOURCES = tests/tools/path-asker.c
tests_tools_path_asker_CPPFLAGS = $(AM_CPPFLAGS) $(IBUMAD_CFLAGS)
tests_tools_path_asker_LDADD = $(IB_LIBS) $(IBUMAD_LIBS)
EXTRA_DIST += tests/tools/qos-random tests/tools/qos-beside-peer

noinst_PROGRAMS += tests/tools/schema-fits
tests_tools_schema_fits_SOURCES = tests/tools/schema-fits.c tests/lib/schema-fits.c tests/lib/schema-fits.h
tests_tools_schema_fits_LDADD = libapi.a $(UTIL_LIBS) $(JSON_LIBS)
