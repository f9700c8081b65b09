# SPDX-License-Identifier: BSD-2-Clause
# Shared objects for tests/e2e/plugin.bats, built as users build them: one header, no libtool, nothing linked.
ODD_PLUGINS = OLD_VERSION NUMBER NO_SYMBOL NO_CREATE NULL_STATE SLOW LOOPS NOWHERE CANNOT NAMES CRASH SEGV HANG
TEST_PLUGINS = tests/plugins/libevent_log.so tests/plugins/libshortest_path.so \
	$(ODD_PLUGINS:%=tests/plugins/libodd_%.so)
check_DATA += $(TEST_PLUGINS)
CLEANFILES += $(TEST_PLUGINS)
EXTRA_DIST += tests/plugins/odd.c
PLUGIN_LINK = $(AM_V_CCLD)$(MKDIR_P) tests/plugins && $(CC) $(CFLAGS) -Wall -Wextra -Wno-unused-parameter \
	-I$(srcdir)/include -shared -fPIC
PLUGIN_API = include/opensm/event_plugin.h include/opensm/routing_plugin.h

tests/plugins/libodd_%.so: tests/plugins/odd.c $(PLUGIN_API)
	$(PLUGIN_LINK) -D$* -o $@ $(srcdir)/tests/plugins/odd.c
tests/plugins/lib%.so: include/opensm/samples/%.c $(PLUGIN_API)
	$(PLUGIN_LINK) -o $@ $<
