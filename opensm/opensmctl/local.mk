# SPDX-License-Identifier: BSD-2-Clause
bin_PROGRAMS += bin/opensmctl
bin_opensmctl_SOURCES = opensm/opensmctl/main.c opensm/opensmctl/ctl.h opensm/opensmctl/client.c \
	opensm/opensmctl/client.h opensm/opensmctl/call.c opensm/opensmctl/text.c \
	opensm/opensmctl/commands.c opensm/opensmctl/commands.h opensm/opensmctl/status.c \
	opensm/opensmctl/instances.c opensm/opensmctl/monitor.c opensm/opensmctl/configuration.c opensm/opensmctl/show.c
bin_opensmctl_LDADD = libctlformats.a $(UTIL_LIBS) $(JSON_LIBS)

# Other people's formats, and commands about the subnet.
noinst_LIBRARIES += libctlformats.a
libctlformats_a_SOURCES = opensm/opensmctl/format.h opensm/opensmctl/format_ibnetdiscover.c \
	opensm/opensmctl/format_dot.c opensm/opensmctl/format_slurm.c opensm/opensmctl/hostlist.c \
	opensm/opensmctl/hostlist.h opensm/opensmctl/slurm_tree.c opensm/opensmctl/slurm_tree.h \
	opensm/opensmctl/slurm_hosts.c opensm/opensmctl/slurm_hosts.h opensm/opensmctl/js.c
bin_opensmctl_SOURCES += opensm/opensmctl/show.h opensm/opensmctl/show_topology.c opensm/opensmctl/show_ports.c \
	opensm/opensmctl/show_path.c opensm/opensmctl/show_members.c

UNIT_TESTS += tests/unit/test-formats
tests_unit_test_formats_SOURCES = tests/unit/test-formats.c
tests_unit_test_formats_LDADD = libctlformats.a libib.a $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-opensmctl
tests_unit_test_opensmctl_SOURCES = tests/unit/test-opensmctl.c opensm/opensmctl/client.c opensm/opensmctl/text.c
tests_unit_test_opensmctl_LDADD = libctlformats.a $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)
