# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libconf.a
libconf_a_SOURCES = opensm/conf/conf.c opensm/conf/conf.h opensm/conf/options.c opensm/conf/options.def opensm/conf/options_health.def \
	opensm/conf/engines.h opensm/conf/metrics_groups.c opensm/conf/metrics_groups.h \
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

UNIT_TESTS += tests/unit/test-copied tests/unit/test-profile tests/unit/test-modules \
	tests/unit/test-conf tests/unit/test-conf-rules tests/unit/test-health-ports \
	tests/unit/test-lists tests/unit/test-lists-routing tests/unit/test-cli \
	tests/unit/test-partitions tests/unit/test-partitions-findings tests/unit/test-tenants \
	tests/unit/test-tenants-import tests/unit/test-tenants-random tests/unit/test-tenants-sizes \
	tests/unit/test-qos-policy tests/unit/test-files tests/unit/test-cc-ports \
	tests/unit/test-hosts-list tests/unit/test-torus-conf

# What a member costs in a large table of tenants: `make bench-tenants && ./bench-tenants`.
EXTRA_PROGRAMS += bench-tenants
bench_tenants_SOURCES = tests/bench/bench-tenants.c
bench_tenants_LDADD = $(CONF_LIBS)

UNIT_TESTS += tests/unit/test-quirks
