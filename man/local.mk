# SPDX-License-Identifier: BSD-2-Clause
dist_man_MANS = man/opensm.8 man/opensmctl.1 man/opensm-launch.8 man/opensm-rest.8 man/partitions.conf.5 man/qos-policy.conf.5 man/torus-2QoS.8 man/torus-2QoS.conf.5
EXTRA_DIST += man/README.md
EXTRA_DIST += man/reference/cli.md man/reference/console.md man/reference/files.md man/reference/handover.md \
	man/reference/opensm-conf.md man/reference/packaging.md man/reference/partitions-conf.md man/reference/qos.md \
	man/reference/real-fabrics.md man/reference/sa.md man/reference/security.md man/reference/sweep.md man/reference/tenancy.md man/reference/testing.md man/reference/traps.md \
	man/reference/users.md
guidesdir = $(docdir)/guides
dist_guides_DATA = man/guides/architecture.md man/guides/migration.md man/guides/routing.md \
	man/guides/care.md man/guides/congestion.md man/guides/containers.md man/guides/features.md man/guides/schedulers.md man/guides/security.md man/guides/standby.md man/guides/tenants.md man/guides/troubleshooting.md
guidespicturesdir = $(docdir)/guides/pictures
dist_guidespictures_DATA = man/guides/pictures/report-390x844.png man/guides/pictures/report-1280x800.png \
	man/guides/pictures/report-2560x1440.png man/guides/pictures/living-390x844.png \
	man/guides/pictures/living-1280x800.png man/guides/pictures/living-2560x1440.png

# opensm.conf(5) is made from the options themselves.
noinst_PROGRAMS += man/confpage
man_confpage_SOURCES = man/confpage.c
man_confpage_LDADD = $(CONF_LIBS)
nodist_man_MANS = man/opensm.conf.5
man/opensm.conf.5: man/confpage$(EXEEXT)
	$(AM_V_GEN)$(builddir)/man/confpage >$@.part && mv $@.part $@
CLEANFILES += man/opensm.conf.5

# Pages name the configuration folder of this build.
INSTALL_DATA_HOOKS += man-conf-dir
man-conf-dir:
	@test '$(OPENSM_CONF_DIR)' = /etc/rdma || for page in $(dist_man_MANS); do \
		section=$${page##*.}; \
		sed -i 's,/etc/rdma,$(OPENSM_CONF_DIR),g' "$(DESTDIR)$(mandir)/man$$section/$${page##*/}" || exit 1; \
	done
.PHONY: man-conf-dir
