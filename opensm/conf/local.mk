# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libconf.a
libconf_a_SOURCES = opensm/conf/conf.c opensm/conf/conf.h opensm/conf/options.def opensm/conf/options_health.def \
	opensm/conf/engines.h \
	opensm/conf/value.c opensm/conf/value.h opensm/conf/cc_ports.c opensm/conf/cc_ports.h opensm/conf/text/report.c \
	opensm/conf/text/report.h opensm/conf/text/lines.c opensm/conf/text/lines.h opensm/conf/read.c \
	opensm/conf/foreign.c opensm/conf/foreign.h opensm/conf/write.c opensm/conf/diff.c \
	opensm/conf/profile.c opensm/conf/profile.h opensm/conf/keys.c \
	opensm/conf/verify.c opensm/conf/advise.c opensm/conf/needs.c opensm/conf/lists/lists.c opensm/conf/lists/lists.h \
	opensm/conf/lists/lists_routing.c opensm/conf/lists/lists_routing.h \
	opensm/conf/lists/names.c opensm/conf/lists/torus.c opensm/conf/lists/torus.h opensm/conf/lists/prefixes.c opensm/conf/lists/prefixes.h opensm/conf/lists/quirks.c opensm/conf/lists/quirks.h opensm/conf/lists/quirks.def opensm/conf/cli.c opensm/conf/cli.h \
	opensm/conf/lists/modules.c opensm/conf/lists/modules.h opensm/conf/lists/health_ports.c opensm/conf/lists/health_ports.h opensm/conf/lists/hosts.c opensm/conf/lists/hosts.h opensm/conf/files.c opensm/conf/files.h opensm/conf/files_news.c \
	opensm/conf/cli_rows.c opensm/conf/cli_rows.h \
	opensm/conf/partitions/partitions.c opensm/conf/partitions/partitions.h opensm/conf/partitions/partitions_build.c \
	opensm/conf/partitions/partitions_groups.c opensm/conf/partitions/partitions_parse.c \
	opensm/conf/partitions/partitions_internal.h opensm/conf/partitions/partitions_words.c \
	opensm/conf/qos/qos_policy.c opensm/conf/qos/qos_policy.h opensm/conf/qos/qos_internal.h opensm/conf/qos/qos_lex.c \
	opensm/conf/qos/qos_block.c opensm/conf/qos/qos_parse.c opensm/conf/qos/qos_ulps.c opensm/conf/qos/qos_setup.c \
	opensm/conf/qos/qos_resolve.c opensm/conf/qos/qos_rows.c opensm/conf/qos/qos_rows.h opensm/conf/qos/qos_index.c \
	opensm/conf/copied/copied.c opensm/conf/copied/copied.h opensm/conf/copied/copied_layer.c opensm/conf/copied/copied_diff.c \
	opensm/conf/tenants/tenants.c opensm/conf/tenants/tenants.h opensm/conf/tenants/tenants_internal.h \
	opensm/conf/tenants/tenants_import.c opensm/conf/tenants/tenants_import.h \
	opensm/conf/tenants/tenants_play.c opensm/conf/tenants/tenants_judge.c opensm/conf/tenants/tenants_join.c \
	opensm/conf/tenants/tenants_limited.c
CONF_LIBS = libconf.a $(IB_LIBS)

# Our source files by folder and name, for per_module_logging_file.
opensm/conf/modules-own.h: Makefile
	@$(MKDIR_P) opensm/conf
	$(AM_V_GEN)(cd $(top_srcdir) && printf '%s\n' '#define OWN_FILES \' && \
		for f in opensm/*.c opensm/*/*.c opensm/*/*/*.c libvendor/*.c; do \
			case $$f in opensm/launch/* | opensm/opensmctl/*) continue ;; \
			opensm/*/*) f=$${f#opensm/} ;; esac; \
			printf '\t"%s", \\\n' "$$f"; \
		done && echo) > $@.tmp && mv $@.tmp $@
opensm/conf/lists/modules.$(OBJEXT): opensm/conf/modules-own.h
CLEANFILES += opensm/conf/modules-own.h

UNIT_TESTS += tests/unit/test-copied
tests_unit_test_copied_SOURCES = tests/unit/test-copied.c
tests_unit_test_copied_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-profile
tests_unit_test_profile_SOURCES = tests/unit/test-profile.c tests/unit/conf-reading.h
tests_unit_test_profile_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-modules
tests_unit_test_modules_SOURCES = tests/unit/test-modules.c
tests_unit_test_modules_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-conf tests/unit/test-conf-rules tests/unit/test-health-ports tests/unit/test-lists tests/unit/test-lists-routing tests/unit/test-cli
UNIT_TESTS += tests/unit/test-partitions tests/unit/test-partitions-findings
tests_unit_test_partitions_SOURCES = tests/unit/test-partitions.c
tests_unit_test_partitions_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_partitions_findings_SOURCES = tests/unit/test-partitions-findings.c
tests_unit_test_partitions_findings_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-tenants tests/unit/test-tenants-import tests/unit/test-tenants-random tests/unit/test-tenants-sizes
tests_unit_test_tenants_random_SOURCES = tests/unit/test-tenants-random.c tests/unit/tenants-desk.h tests/unit/tenants-text.h
tests_unit_test_tenants_random_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tenants_sizes_SOURCES = tests/unit/test-tenants-sizes.c tests/unit/tenants-desk.h tests/unit/tenants-text.h
tests_unit_test_tenants_sizes_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tenants_import_SOURCES = tests/unit/test-tenants-import.c tests/unit/tenants-desk.h tests/unit/tenants-text.h
tests_unit_test_tenants_import_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tenants_SOURCES = tests/unit/test-tenants.c tests/unit/tenants-desk.h
tests_unit_test_tenants_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-qos-policy
tests_unit_test_qos_policy_SOURCES = tests/unit/test-qos-policy.c tests/unit/qos-examples.h
tests_unit_test_qos_policy_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-files
tests_unit_test_files_SOURCES = tests/unit/test-files.c
tests_unit_test_files_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-cc-ports
tests_unit_test_cc_ports_SOURCES = tests/unit/test-cc-ports.c
tests_unit_test_cc_ports_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_conf_SOURCES = tests/unit/test-conf.c tests/unit/conf-reading.h
tests_unit_test_conf_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_conf_rules_SOURCES = tests/unit/test-conf-rules.c tests/unit/conf-reading.h
tests_unit_test_conf_rules_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-hosts-list
tests_unit_test_hosts_list_SOURCES = tests/unit/test-hosts-list.c
tests_unit_test_hosts_list_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_health_ports_SOURCES = tests/unit/test-health-ports.c
tests_unit_test_health_ports_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_lists_SOURCES = tests/unit/test-lists.c
tests_unit_test_lists_routing_SOURCES = tests/unit/test-lists-routing.c
tests_unit_test_lists_routing_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_lists_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_cli_SOURCES = tests/unit/test-cli.c
tests_unit_test_cli_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-torus-conf
tests_unit_test_torus_conf_SOURCES = tests/unit/test-torus-conf.c
tests_unit_test_torus_conf_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

# What a member costs in a large table of tenants: `make bench-tenants && ./bench-tenants`.
EXTRA_PROGRAMS += bench-tenants
bench_tenants_SOURCES = tests/bench/bench-tenants.c
bench_tenants_LDADD = $(CONF_LIBS)

UNIT_TESTS += tests/unit/test-quirks
tests_unit_test_quirks_SOURCES = tests/unit/test-quirks.c
tests_unit_test_quirks_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
