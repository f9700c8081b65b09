// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths under the QoS policy (qos.md 4, 5): which level a pair of ports gets, and how often each
 * rule has decided.
 */
#include "sa/path/path.h"
#include "util/mem.h"
#include "view/view_policy.h"

/* Of the policy counted last: its rules, then the default level. */
struct path_tally {
	const struct qos_policy *of; /* one reference */
	uint64_t *decided;
};

struct path_tally *path_tally_new(void)
{
	return xcalloc(1, sizeof(struct path_tally));
}

struct path_tally *path_tally_free(struct path_tally *t)
{
	if (!t)
		return NULL;
	qos_policy_unref(t->of);
	free(t->decided);
	free(t);
	return NULL;
}

void path_tally_follow(struct sa *sa)
{
	const struct qos_policy *policy = sa->view ? view_policy(sa->view) : NULL;
	struct path_tally *t = sa->path_tally;

	if (policy == t->of)
		return;
	qos_policy_unref(t->of);
	free(t->decided);
	t->of = qos_policy_ref(policy);
	t->decided = policy ? xcalloc(policy->n_rules + 1u, sizeof(*t->decided)) : NULL;
}

const uint64_t *sa_rules_decided(const struct sa *sa, const struct qos_policy *policy)
{
	return policy && policy == sa->path_tally->of ? sa->path_tally->decided : NULL;
}

void path_wish_ask(const struct sa_query *q, const struct qos_request *rq, struct path_wish *w)
{
	w->policy = view_policy(q->view);
	if (w->policy)
		w->asked = qos_policy_ask(w->policy, rq);
}

/* A view that is gone may have had another policy. */
static void count(const struct sa_query *q, const struct qos_policy *policy, uint32_t rule)
{
	struct path_tally *t = q->sa->path_tally;

	if (policy == t->of)
		t->decided[rule == QOS_NO_RULE ? policy->n_rules : rule]++;
}

const struct qos_level *path_level(const struct sa_query *q, const struct path_wish *w,
				   uint32_t src, uint32_t dst)
{
	uint32_t rule;

	if (!w->policy)
		return NULL;
	rule = view_policy_rule(q->view, &w->asked, src, dst, 0);
	count(q, w->policy, rule);
	return qos_policy_level(w->policy, rule);
}

const struct qos_level *path_level_back(const struct sa_query *q, const struct path_wish *w,
					uint32_t src, uint32_t dst)
{
	return qos_policy_level(w->policy, view_policy_rule(q->view, &w->asked, src, dst, 0));
}
