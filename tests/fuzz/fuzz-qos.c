// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as qos-policy.conf. What is accepted is in order and in range, and its rules are
 * found by rows as they are rule by rule; what is not accepted has an error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/qos/qos_policy.h"
#include "util/mem.h"

#define NAME "qos-policy.conf"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_ranges(const struct qos_ranges *r, uint64_t most)
{
	for (size_t i = 0; i < r->n; i++) {
		require(r->items[i].first <= r->items[i].last && r->items[i].last <= most);
		require(!i || r->items[i - 1].last + 1 < r->items[i].first);
	}
}

static void require_list(const struct qos_list *l, uint32_t n)
{
	for (size_t i = 0; i < l->n; i++)
		require(l->items[i] < n);
}

static void require_policy(const struct qos_policy *p)
{
	require(p->n_rules <= QOS_RULES_MAX && p->default_level < p->n_levels);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		require_ranges(&p->groups[i].guids, UINT64_MAX);
		require_ranges(&p->groups[i].pkeys, 0x7FFF);
	}
	for (uint32_t i = 0; i < p->n_levels; i++) {
		require(p->levels[i].sl <= 15 && p->levels[i].mtu <= 5 && p->levels[i].life <= 63);
		require_ranges(&p->levels[i].pkeys, 0x7FFF);
	}
	for (uint32_t i = 0; i < p->n_rules; i++) {
		require(p->rules[i].level < p->n_levels);
		require_list(&p->rules[i].sources, p->n_groups);
		require_list(&p->rules[i].destinations, p->n_groups);
		require_ranges(&p->rules[i].services, UINT64_MAX);
		require_ranges(&p->rules[i].pkeys, 0x7FFF);
	}
}

static bool is_in(const struct qos_policy *p, const struct qos_list *groups,
		  const struct qos_port *port)
{
	bool found = !groups->n;

	for (size_t i = 0; i < groups->n; i++)
		found = found || qos_group_has(&p->groups[groups->items[i]], port);
	return found;
}

static bool allows(const struct qos_ranges *r, uint64_t value)
{
	return !r->n || qos_ranges_have(r, value);
}

static uint32_t rule_by_rule(const struct qos_policy *p, const struct qos_request *rq,
			     const struct qos_port *port)
{
	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct qos_rule *r = &p->rules[i];

		if (allows(&r->services, rq->service) && allows(&r->classes, rq->class) &&
		    allows(&r->pkeys, rq->pkey) && is_in(p, &r->sources, port) &&
		    is_in(p, &r->destinations, port))
			return i;
	}
	return QOS_NO_RULE;
}

static void require_match(const struct qos_policy *p, const uint8_t *input, size_t len)
{
	const struct qos_request rq = { true, true, true, len * 7, (uint16_t)len,
					len ? input[0] : 0 };
	const struct qos_port port = { .guid = len % 16, .name = "h1", .num = 1, .n_ports = 1,
				       .type = QOS_TYPE_CA, .is_self = len & 1 };
	_cleanup_free_ uint64_t *row = xcalloc(2 * p->words, sizeof(*row));
	struct qos_asked asked = qos_policy_ask(p, &rq);
	const struct qos_ends ends = { { row, NULL }, { row, NULL } };

	qos_policy_port(p, &port, row);
	require(qos_policy_match(p, &asked, &ends, 0) == rule_by_rule(p, &rq, &port));
}

static void require_findings(const struct conf_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		require(r->findings[i].text[0]);
		for (const char *s = r->findings[i].text; *s; s++)
			require((unsigned char)*s >= ' ' && (unsigned char)*s < 0x7F);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct conf_report r = { 0 };
	struct qos_policy *p = NULL;
	int e = qos_policy_parse((const char *)input, len, NAME, &r, &p);

	require((e == 0) == (p != NULL) && (e == 0) == (r.errors == 0));
	require_findings(&r);
	if (p) {
		require_policy(p);
		require_match(p, input, len);
	}
	qos_policy_unref(p);
	conf_report_clear(&r);
	return 0;
}
