# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libctl.a
libctl_a_SOURCES = opensm/ctl/dump.c opensm/ctl/dump.h opensm/ctl/dump_files.h \
	opensm/ctl/dump_out.c opensm/ctl/dump_out.h \
	opensm/ctl/dump_paths.c opensm/ctl/dump_paths.h \
	opensm/ctl/dump_ports.c opensm/ctl/dump_tables.c opensm/ctl/dump_mcast.c opensm/ctl/dump_lanes.c opensm/ctl/dump_engine.c \
	opensm/ctl/dump_view.c opensm/ctl/dump_view.h \
	opensm/ctl/metrics.c opensm/ctl/metrics.h opensm/ctl/metrics_private.h opensm/ctl/metrics_fabric.c opensm/ctl/metrics_counters.c \
	opensm/ctl/metrics_text.c opensm/ctl/metrics_text.h opensm/ctl/metrics_tally.c opensm/ctl/metrics_tally.h \
	opensm/ctl/plugin.c opensm/ctl/plugin.h opensm/ctl/plugin_private.h opensm/ctl/plugin_api.c \
	opensm/ctl/plugin_file.c opensm/ctl/plugin_file.h \
	opensm/ctl/json.c opensm/ctl/json.h opensm/ctl/scene.h opensm/ctl/scene.c opensm/ctl/control.h opensm/ctl/control.c opensm/ctl/control_call.h \
	opensm/ctl/control_call.c opensm/ctl/control_status.c opensm/ctl/control_conf.c opensm/ctl/control_act.c \
	opensm/ctl/control_events.c opensm/ctl/show.c
libctl_a_SOURCES += opensm/ctl/show.h opensm/ctl/show_json.c opensm/ctl/show_find.c opensm/ctl/show_gone.c opensm/ctl/show_topology.c \
	opensm/ctl/show_ports.c opensm/ctl/show_routes.c opensm/ctl/show_ways.h opensm/ctl/show_path.c \
	opensm/ctl/show_partitions.c opensm/ctl/show_groups.c opensm/ctl/show_sa.c
libctl_a_SOURCES += opensm/ctl/console.h opensm/ctl/console.c opensm/ctl/console_private.h \
	opensm/ctl/console_commands.c opensm/ctl/console_manager.c opensm/ctl/console_status.c \
	opensm/ctl/console_ports.c opensm/ctl/console_balance.c opensm/ctl/console_guids.c opensm/ctl/console_perf.c
CTL_LIBS = libctl.a libperf.a $(SM_LIBS) $(IBMAD_LIBS) $(JSON_LIBS)

UNIT_TESTS += tests/unit/test-console
tests_unit_test_console_SOURCES = tests/unit/test-console.c
tests_unit_test_console_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_console_LDADD = librig.a $(CTL_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-dump
tests_unit_test_dump_SOURCES = tests/unit/test-dump.c
tests_unit_test_dump_LDADD = $(CTL_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-plugin
tests_unit_test_plugin_SOURCES = tests/unit/test-plugin.c
tests_unit_test_plugin_LDADD = $(CTL_LIBS) $(CMOCKA_LIBS) -ldl

UNIT_TESTS += tests/unit/test-show
tests_unit_test_show_SOURCES = tests/unit/test-show.c
tests_unit_test_show_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_show_LDADD = libctl.a $(RIG_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-metrics
tests_unit_test_metrics_SOURCES = tests/unit/test-metrics.c
tests_unit_test_metrics_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_test_metrics_LDADD = librig.a $(CTL_LIBS) $(SIM_LIBS) $(CMOCKA_LIBS)

# What a page of metrics costs: `make bench-metrics && ./bench-metrics 36`.
EXTRA_PROGRAMS += bench-metrics
bench_metrics_SOURCES = tests/bench/bench-metrics.c
bench_metrics_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
bench_metrics_LDADD = librig.a $(CTL_LIBS) $(SIM_LIBS)
