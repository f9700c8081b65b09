# SPDX-License-Identifier: BSD-2-Clause
# The page of the fabric, for opensmctl and opensm-rest: its scripts, style and frames become texts of C by sed alone.
noinst_LIBRARIES += libpage.a
libpage_a_SOURCES = opensm/page/page.h opensm/page/compact.c
nodist_libpage_a_SOURCES = opensm/page/assets.c
PAGE_JS = opensm/page/model.js opensm/page/map.js opensm/page/sections.js opensm/page/live.js
PAGE_REST = opensm/page/page.css opensm/page/page.html
EXTRA_DIST += $(PAGE_JS) $(PAGE_REST)
CLEANFILES += opensm/page/assets.c
PAGE_QUOTE = sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/'
opensm/page/assets.c: $(PAGE_JS:%=$(srcdir)/%) $(PAGE_REST:%=$(srcdir)/%) opensm/page/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { echo '#include "page/page.h"'; \
		echo 'const char page_js[] ='; for f in $(PAGE_JS); do $(PAGE_QUOTE) $(srcdir)/$$f; done; echo ';'; \
		echo 'const char page_css[] ='; $(PAGE_QUOTE) $(srcdir)/opensm/page/page.css; echo ';'; \
		echo 'const char page_html[] ='; $(PAGE_QUOTE) $(srcdir)/opensm/page/page.html; echo ';'; } >$@.new && mv $@.new $@

UNIT_TESTS += tests/unit/test-page
tests_unit_test_page_LDADD = libpage.a libclient.a $(UTIL_LIBS) $(JSON_LIBS) $(CMOCKA_LIBS)
