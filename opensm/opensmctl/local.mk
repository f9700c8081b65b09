# SPDX-License-Identifier: BSD-2-Clause
bin_PROGRAMS += bin/opensmctl
bin_opensmctl_SOURCES = opensm/opensmctl/main.c opensm/opensmctl/ctl.h opensm/opensmctl/client.c \
	opensm/opensmctl/client.h opensm/opensmctl/call.c opensm/opensmctl/js.c opensm/opensmctl/text.c \
	opensm/opensmctl/commands.c opensm/opensmctl/commands.h opensm/opensmctl/status.c \
	opensm/opensmctl/instances.c opensm/opensmctl/monitor.c opensm/opensmctl/configuration.c opensm/opensmctl/show.c
bin_opensmctl_LDADD = $(UTIL_LIBS) $(JSON_LIBS)
