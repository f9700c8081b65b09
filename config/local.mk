# SPDX-License-Identifier: BSD-2-Clause
# What an installed system has around the programs. Folders of the build come into it by make, so that
# `make prefix=...` is heard.
SERVICE_FILES = config/systemd/opensm.service config/systemd/opensm@.service config/sysconfig/opensm \
	config/default/opensm config/logrotate/opensm config/tmpfiles/opensm.conf config/systemd/opensm-rest.service
EXTRA_DIST += $(SERVICE_FILES:=.in)
CLEANFILES += $(SERVICE_FILES)

$(SERVICE_FILES): %: $(srcdir)/%.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's|@libexecdir[@]|$(libexecdir)|g' -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@bindir[@]|$(bindir)|g' \
		-e 's|@localstatedir[@]|$(localstatedir)|g' -e 's|@OPENSM_CONF_DIR[@]|$(OPENSM_CONF_DIR)|g' $< >$@.new && mv $@.new $@

systemdsystemunit_DATA = config/systemd/opensm.service config/systemd/opensm@.service config/systemd/opensm-rest.service
dist_systemdsystemunit_DATA = config/systemd/opensm-port@.service
udevrulesdir = $(prefix)/lib/udev/rules.d
dist_udevrules_DATA = config/udev/90-opensm.rules
logrotatedir = $(sysconfdir)/logrotate.d
logrotate_DATA = config/logrotate/opensm
tmpfilesdir = $(prefix)/lib/tmpfiles.d
tmpfiles_DATA = config/tmpfiles/opensm.conf

sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = config/sysusers/opensm.conf

# To start from: doc/opensm/examples/opensm.conf, of this very program, opensm-rest.conf, qos-policy.conf.
restexampledir = $(docdir)/examples
dist_restexample_DATA = config/rest/opensm-rest.conf config/examples/qos-policy.conf
nodist_restexample_DATA = config/examples/opensm.conf
config/examples/opensm.conf: sbin/opensm$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(builddir)/sbin/opensm -c $@.part >/dev/null && mv $@.part $@
CLEANFILES += config/examples/opensm.conf

# After an installation: `journalctl --update-catalog`.
catalogdir = $(prefix)/lib/systemd/catalog
dist_catalog_DATA = config/journal/opensm.catalog

if SYSCONFIG_RPM
sysconfigdir = $(sysconfdir)/sysconfig
sysconfig_DATA = config/sysconfig/opensm
endif
if SYSCONFIG_DEBIAN
defaultdir = $(sysconfdir)/default
default_DATA = config/default/opensm
endif

# Both kinds, to look at: doc/opensm/examples/sysconfig/opensm and default/opensm.
sysconfigexampledir = $(docdir)/examples/sysconfig
sysconfigexample_DATA = config/sysconfig/opensm
defaultexampledir = $(docdir)/examples/default
defaultexample_DATA = config/default/opensm

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = config/completion/opensmctl
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = config/completion/_opensmctl
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = config/completion/opensmctl.fish

# Scripts to be copied and changed (man/guides/tenants.md), run by tests/e2e/rest-slurm.bats.
slurmexampledir = $(docdir)/examples/slurm
dist_slurmexample_DATA = config/examples/slurm/README.md config/examples/slurm/pkey.sh
dist_slurmexample_SCRIPTS = config/examples/slurm/prolog-opensmctl config/examples/slurm/epilog-opensmctl \
	config/examples/slurm/prolog-rest config/examples/slurm/epilog-rest config/examples/slurm/task-prolog
# Alerts and a dashboard on the metrics (man/guides/care.md), read by tests/e2e/metrics.bats.
prometheusexampledir = $(docdir)/examples/prometheus
dist_prometheusexample_DATA = config/examples/prometheus/opensm.rules.yml config/examples/prometheus/opensm.scrape.yml
# A manager on each node with a label (man/guides/containers.md), read by tests/packages/image.bats.
kubernetesexampledir = $(docdir)/examples/kubernetes
dist_kubernetesexample_DATA = config/examples/kubernetes/opensm.yaml
grafanaexampledir = $(docdir)/examples/grafana
dist_grafanaexample_DATA = config/examples/grafana/opensm.json
EXTRA_DIST += config/examples/README.md
# The policy module of SELinux: for opensm.spec.
EXTRA_DIST += config/selinux/README.md config/selinux/opensm.te config/selinux/opensm.fc config/selinux/opensm.if
