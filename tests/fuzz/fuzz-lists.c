// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a list of ports, of weights, of names, of prefix routes, of modules and of
 * ports called healthy or not. No GUID is 0, no port, weight or action out of range, no port
 * twice, no name empty or unprintable; the first route counts.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/lists/health_ports.h"
#include "conf/lists/lists.h"
#include "conf/lists/modules.h"
#include "conf/lists/prefixes.h"
#include "conf/lists/quirks.h"
#include "util/mem.h"

#define NAME "list"
#define PAIRS_MAX 200 /* looked at for duplicates */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void try_ports(const char *text, size_t len, enum conf_list kind)
{
	struct conf_report r = { 0 };
	struct conf_guid_ports p;

	if (conf_guid_ports_read_text(NAME, text, len, kind, &p, &r) < 0)
		require(p.n == 0 && r.errors == 1);
	for (size_t i = 0; i < p.n; i++) {
		const struct conf_guid_port *a = &p.items[i];

		require(a->guid && a->port >= 1 && a->port <= IB_MAX_PORTS);
		require((a->weight != 0) == (kind == CONF_LIST_WEIGHTS));
		for (size_t k = i + 1; k < p.n && k < i + PAIRS_MAX; k++)
			require(a->guid != p.items[k].guid || a->port != p.items[k].port);
	}
	conf_guid_ports_clear(&p);
	conf_report_clear(&r);
}

static void require_printable(const char *name)
{
	require(name[0] != '\0');
	for (; *name; name++)
		require(isprint((unsigned char)*name));
}

static void try_names(const char *text, size_t len)
{
	_cleanup_(conf_names_freep) struct conf_names *names = NULL;
	struct conf_report r = { 0 };
	size_t found = 0;

	if (conf_names_read_text(NAME, text, len, &names, &r) < 0)
		require(conf_names_count(names) == 0);
	for (guid_t guid = 1; guid < 64; guid++) {
		const char *name = conf_names_find(names, guid);

		if (name)
			require_printable(name);
		found += name != NULL;
	}
	require(found <= conf_names_count(names));
	conf_report_clear(&r);
}

static void try_quirks(const char *text, size_t len)
{
	struct conf_report r = { 0 };
	struct conf_quirks q;

	if (conf_quirks_read_text(NAME, text, len, &q, &r) < 0)
		require(q.n == 0);
	for (size_t i = 0; i < q.n; i++)
		require(q.items[i].first <= q.items[i].last && (q.items[i].on | q.items[i].off));
	conf_quirks_clear(&q);
	conf_report_clear(&r);
}

static void try_prefixes(const char *text, size_t len)
{
	struct conf_report r = { 0 };
	struct conf_prefixes p;

	if (conf_prefixes_read_text(NAME, text, len, &p, &r) < 0)
		require(p.n == 0);
	require(p.n <= CONF_PREFIXES_MAX);
	for (size_t i = 0; i < p.n && i < PAIRS_MAX; i++)
		require(conf_prefixes_find(&p, p.items[i].prefix) <= &p.items[i]);
	conf_prefixes_clear(&p);
	conf_report_clear(&r);
}

static void try_modules(const char *text, size_t len)
{
	struct conf_report r = { 0 };
	struct conf_modules m;

	if (conf_modules_read_text(NAME, text, len, &m, &r) < 0)
		require(m.n == 0);
	for (size_t i = 0; i < m.n; i++)
		require(strchr(m.items[i].name, '/') && m.items[i].mask <= 0xFF);
	conf_modules_clear(&m);
	conf_report_clear(&r);
}

static void try_health(const char *text, size_t len)
{
	struct conf_report r = { 0 };
	struct conf_health_ports p;

	if (conf_health_ports_read_text(NAME, text, len, &p, &r) < 0)
		require(p.n == 0 && !p.all_healthy);
	require(p.n <= CONF_HEALTH_PORTS_MAX);
	for (size_t i = 0; i < p.n; i++) {
		const struct conf_health_port *a = &p.items[i];

		require(a->guid && a->port >= 1 && a->port <= IB_MAX_PORTS);
		require(a->action <= CONF_HEALTH_NONE);
		require(!a->healthy || a->action == CONF_HEALTH_NONE);
		require(conf_health_ports_find(&p, a->guid, a->port) == a);
	}
	conf_health_ports_clear(&p);
	conf_report_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	try_health((const char *)input, len);
	try_ports((const char *)input, len, CONF_LIST_PORTS);
	try_ports((const char *)input, len, CONF_LIST_WEIGHTS);
	try_names((const char *)input, len);
	try_prefixes((const char *)input, len);
	try_quirks((const char *)input, len);
	try_modules((const char *)input, len);
	return 0;
}
