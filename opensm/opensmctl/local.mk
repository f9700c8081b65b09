# SPDX-License-Identifier: BSD-2-Clause
bin_PROGRAMS += bin/opensmctl
bin_opensmctl_SOURCES = opensm/opensmctl/main.c opensm/opensmctl/talk/ctl.h \
	opensm/opensmctl/talk/call.c opensm/opensmctl/talk/command.c opensm/opensmctl/talk/text.c opensm/opensmctl/talk/several.c opensm/opensmctl/talk/options.c opensm/opensmctl/talk/errors.c \
	opensm/opensmctl/talk/table.c opensm/opensmctl/talk/screen.c opensm/opensmctl/talk/watch.c opensm/opensmctl/talk/schema.c \
	opensm/opensmctl/talk/launched.c opensm/opensmctl/talk/launched.h \
	opensm/opensmctl/commands.c opensm/opensmctl/complete.c opensm/opensmctl/status.c \
	opensm/opensmctl/instances.c opensm/opensmctl/monitor.c opensm/opensmctl/configuration.c \
	opensm/opensmctl/security.c opensm/opensmctl/congestion.c opensm/opensmctl/marks.c opensm/opensmctl/alarms.c opensm/opensmctl/health.c opensm/opensmctl/ledger.c opensm/opensmctl/show.h
bin_opensmctl_CPPFLAGS = $(AM_CPPFLAGS) $(IBMAD_CFLAGS)
bin_opensmctl_LDADD = libctlformats.a libpage.a libclient.a $(TOPO_LIBS) libib.a $(UTIL_LIBS) $(JSON_LIBS) $(IBMAD_LIBS)

# Other people's formats, and commands about the subnet.
noinst_LIBRARIES += libctlformats.a
libctlformats_a_SOURCES = opensm/opensmctl/format/format.h opensm/opensmctl/format/format_ibnetdiscover.c \
	opensm/opensmctl/format/format_dot.c opensm/opensmctl/format/format_slurm.c opensm/opensmctl/format/hostlist.c \
	opensm/opensmctl/format/hostlist.h opensm/opensmctl/format/slurm_tree.c opensm/opensmctl/format/slurm_tree.h \
	opensm/opensmctl/format/slurm_hosts.c opensm/opensmctl/format/slurm_hosts.h opensm/opensmctl/format/slurm_place.c \
	opensm/opensmctl/format/slurm_rails.c opensm/opensmctl/format/slurm_blocks.c opensm/opensmctl/format/slurm_blocks.h \
	opensm/opensmctl/format/format_k8s.c
bin_opensmctl_SOURCES += opensm/opensmctl/show_topology.c opensm/opensmctl/topology_meant.c opensm/opensmctl/show_scheduler.c opensm/opensmctl/show_scheduler.h opensm/opensmctl/show_ports.c \
	opensm/opensmctl/smp.c opensm/opensmctl/qos.c opensm/opensmctl/qos_policy.c opensm/opensmctl/show_path.c opensm/opensmctl/show_members.c opensm/opensmctl/partitions.c opensm/opensmctl/partitions.h \
	opensm/opensmctl/partitions_words.c opensm/opensmctl/partitions_text.c

bin_opensmctl_SOURCES += opensm/opensmctl/report.c

nodist_bin_opensmctl_SOURCES = opensm/opensmctl/schemas.c
# Schemas of its documents, of their rows in show/ and control/.
CLEANFILES += opensm/opensmctl/schemas.c
opensm/opensmctl/schemas.c: opensm/control/schemas/make-schemas$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && opensm/control/schemas/make-schemas$(EXEEXT) >$@.new && mv $@.new $@

UNIT_TESTS += tests/unit/test-formats
tests_unit_test_formats_SOURCES = tests/unit/test-formats.c tests/lib/hostnames.c tests/lib/hostnames.h
tests_unit_test_formats_LDADD = libctlformats.a libclient.a libsim.a libib.a $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-schedulers
tests_unit_test_schedulers_SOURCES = tests/unit/test-schedulers.c tests/lib/hostnames.c tests/lib/hostnames.h
tests_unit_test_schedulers_LDADD = libctlformats.a libclient.a $(SIM_LIBS) $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-opensmctl
tests_unit_test_opensmctl_SOURCES = tests/unit/test-opensmctl.c opensm/opensmctl/talk/command.c opensm/opensmctl/talk/errors.c opensm/opensmctl/talk/options.c opensm/opensmctl/talk/text.c opensm/opensmctl/talk/table.c opensm/opensmctl/talk/screen.c opensm/opensmctl/show_members.c \
	opensm/opensmctl/partitions.c opensm/opensmctl/partitions_text.c opensm/opensmctl/partitions_words.c
tests_unit_test_opensmctl_LDADD = libctlformats.a libclient.a libib.a $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-opensmctl-talk
tests_unit_test_opensmctl_talk_SOURCES = tests/unit/test-opensmctl-talk.c opensm/opensmctl/talk/command.c opensm/opensmctl/talk/errors.c \
	opensm/opensmctl/talk/options.c opensm/opensmctl/talk/text.c opensm/opensmctl/talk/table.c opensm/opensmctl/talk/screen.c
tests_unit_test_opensmctl_talk_LDADD = libctlformats.a libclient.a $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)
