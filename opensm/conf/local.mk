# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libconf.a
libconf_a_SOURCES = opensm/conf/conf.c opensm/conf/conf.h opensm/conf/options.def \
	opensm/conf/value.c opensm/conf/value.h opensm/conf/report.c \
	opensm/conf/lines.c opensm/conf/lines.h opensm/conf/read.c \
	opensm/conf/foreign.c opensm/conf/foreign.h opensm/conf/write.c opensm/conf/diff.c \
	opensm/conf/verify.c opensm/conf/advise.c opensm/conf/lists.c opensm/conf/lists.h \
	opensm/conf/lists_routing.c opensm/conf/lists_routing.h \
	opensm/conf/names.c opensm/conf/torus.c opensm/conf/torus.h opensm/conf/prefixes.c opensm/conf/prefixes.h opensm/conf/cli.c opensm/conf/cli.h \
	opensm/conf/modules.c opensm/conf/modules.h opensm/conf/files.c opensm/conf/files.h opensm/conf/files_news.c \
	opensm/conf/cli_rows.c opensm/conf/cli_rows.h \
	opensm/conf/partitions.c opensm/conf/partitions.h opensm/conf/partitions_build.c \
	opensm/conf/partitions_groups.c opensm/conf/partitions_parse.c \
	opensm/conf/partitions_private.h opensm/conf/partitions_words.c
CONF_LIBS = libconf.a $(IB_LIBS)

# Our source files by folder and name, for per_module_logging_file.
opensm/conf/modules-own.h: Makefile
	@$(MKDIR_P) opensm/conf
	$(AM_V_GEN)(cd $(top_srcdir) && printf '%s\n' '#define OWN_FILES \' && \
		for f in opensm/*.c opensm/*/*.c libvendor/*.c libvendor/sim/*.c; do \
			case $$f in opensm/launch/* | opensm/opensmctl/*) continue ;; esac; \
			d=$${f%/*}; printf '\t"%s/%s", \\\n' "$${d##*/}" "$${f##*/}"; \
		done && echo) > $@.tmp && mv $@.tmp $@
opensm/conf/modules.$(OBJEXT): opensm/conf/modules-own.h
CLEANFILES += opensm/conf/modules-own.h

UNIT_TESTS += tests/unit/test-modules
tests_unit_test_modules_SOURCES = tests/unit/test-modules.c
tests_unit_test_modules_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-conf tests/unit/test-conf-rules tests/unit/test-lists tests/unit/test-lists-routing tests/unit/test-cli
UNIT_TESTS += tests/unit/test-partitions tests/unit/test-partitions-findings
tests_unit_test_partitions_SOURCES = tests/unit/test-partitions.c
tests_unit_test_partitions_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_partitions_findings_SOURCES = tests/unit/test-partitions-findings.c
tests_unit_test_partitions_findings_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-files
tests_unit_test_files_SOURCES = tests/unit/test-files.c
tests_unit_test_files_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_conf_SOURCES = tests/unit/test-conf.c tests/unit/conf-reading.h
tests_unit_test_conf_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_conf_rules_SOURCES = tests/unit/test-conf-rules.c tests/unit/conf-reading.h
tests_unit_test_conf_rules_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_lists_SOURCES = tests/unit/test-lists.c
tests_unit_test_lists_routing_SOURCES = tests/unit/test-lists-routing.c
tests_unit_test_lists_routing_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_lists_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
tests_unit_test_cli_SOURCES = tests/unit/test-cli.c
tests_unit_test_cli_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-torus-conf
tests_unit_test_torus_conf_SOURCES = tests/unit/test-torus-conf.c
tests_unit_test_torus_conf_LDADD = $(CONF_LIBS) $(CMOCKA_LIBS)
