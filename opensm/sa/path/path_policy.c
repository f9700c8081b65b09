// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths under the QoS policy (qos.md 4, 5): which level a pair of ports gets, and how often each
 * rule has decided. Applications say the same of themselves in many requests: the last answers of
 * the policy to what requests say are kept.
 */
#include "sa/path/path.h"

#include <string.h>

#include "util/mem.h"
#include "view/view_policy.h"

#define ANSWERS 64 /* a power of two */

struct answer {
	struct qos_request to;
	struct qos_asked asked; /* service NULL: none yet */
};

/* Of the policy counted last: its rules, then the default level. */
struct path_tally {
	const struct qos_policy *of; /* one reference */
	uint64_t *decided;
	struct answer answers[ANSWERS]; /* by hash_request(); of this policy */
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
	memset(t->answers, 0, sizeof(t->answers));
}

const uint64_t *sa_rules_decided(const struct sa *sa, const struct qos_policy *policy)
{
	return policy && policy == sa->path_tally->of ? sa->path_tally->decided : NULL;
}

static unsigned hash_request(const struct qos_request *rq)
{
	uint64_t h = (rq->service ^ (uint64_t)rq->class << 48 ^ (uint64_t)rq->pkey << 32) *
		     UINT64_C(0x9E3779B97F4A7C15);

	return (unsigned)(h >> 32) % ANSWERS;
}

static bool same_request(const struct qos_request *a, const struct qos_request *b)
{
	return a->service == b->service && a->class == b->class && a->pkey == b->pkey &&
	       a->has_service == b->has_service && a->has_class == b->has_class &&
	       a->has_pkey == b->has_pkey;
}

/*
 * What a level limits is a matter of requests with limits of their own; most have none, and the way
 * back has no say then.
 */
void path_wish_ask(const struct sa_query *q, const struct qos_request *rq, struct path_wish *w)
{
	struct path_tally *t = q->sa->path_tally;
	struct answer *a;

	w->policy = view_policy(q->view);
	if (!w->policy)
		return;
	w->judges_back = w->has_sl || w->mtu.given || w->rate.given || w->life.given ||
			 w->policy->has_level_pkeys || w->policy->sls & ~q->view->good_wishes;
	if (w->policy != t->of) { /* of a view that is gone */
		w->asked = qos_policy_ask(w->policy, rq);
		return;
	}
	a = &t->answers[hash_request(rq)];
	if (!a->asked.service || !same_request(&a->to, rq))
		*a = (struct answer){ *rq, qos_policy_ask(t->of, rq) };
	w->asked = a->asked;
}

/* A view that is gone may have had another policy. */
static void count(const struct sa_query *q, const struct qos_policy *policy, uint32_t rule)
{
	struct path_tally *t = q->sa->path_tally;

	if (policy == t->of)
		t->decided[rule == QOS_NO_RULE ? policy->n_rules : rule]++;
}

const struct qos_level *path_level(const struct sa_query *q, const struct path_wish *w,
				   struct path_pair *p)
{
	uint32_t rule;

	if (!w->policy)
		return NULL;
	view_policy_ends(q->view, p->src.port, p->dst.port, &p->ends);
	rule = qos_policy_first(w->policy, &w->asked, &p->ends);
	if (!p->counted)
		count(q, w->policy, rule);
	return qos_policy_level(w->policy, rule);
}

const struct qos_level *path_level_back(const struct path_wish *w, const struct path_pair *p)
{
	const struct qos_ends back = { { p->ends.dst[0], p->ends.dst[1] },
				       { p->ends.src[0], p->ends.src[1] } };

	if (qos_ends_are_alike(&p->ends))
		return p->level;
	return qos_policy_level(w->policy, qos_policy_first(w->policy, &w->asked, &back));
}
