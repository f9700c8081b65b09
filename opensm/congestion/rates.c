// SPDX-License-Identifier: BSD-2-Clause
/* What cc_profile and the options come to in this fabric, as it is shown. */
#include <assert.h>

#include "congestion/congestion_internal.h"
#include "congestion/numbers.h"
#include "ib/codes.h"
#include "util/mem.h"

/* By rank of the rate. */
static void count_link(struct cc_rate by_rank[CC_RATES + 1], const struct cc_link *link, bool host)
{
	unsigned rank = ib_rate_rank(ib_rate_of_bandwidth(link->rate));

	if (!rank || rank > CC_RATES)
		return;
	by_rank[rank].rate = link->rate;
	*(host ? &by_rank[rank].hosts : &by_rank[rank].switch_ports) += 1;
}

static void count_links(struct cc_rate by_rank[CC_RATES + 1], const struct cc_entry *e)
{
	if (!e->port.is_switch) {
		count_link(by_rank, &e->device.own, true);
		return;
	}
	for (unsigned num = 1; e->device.links && num <= e->device.n_ports; num++)
		count_link(by_rank, &e->device.links[num], false);
}

static void add_numbers(const struct conf *c, struct cc_rate *r)
{
	struct cc_marking m = cc_marking(c, r->rate);
	unsigned sls = cc_host_sls(c) & ~(unsigned)c->cc_no_throttle_sls, sl = 0;
	struct cc_slowing s;

	while (sl < 15 && !(sls >> sl & 1))
		sl++;
	s = cc_slowing(c, r->rate, sl);
	r->threshold = m.threshold;
	r->packet_size = m.packet_size;
	r->marking_rate = m.rate;
	r->timer = s.timer;
	r->increase = s.increase;
}

unsigned cc_rates(const struct cc *cc, struct cc_rate ret[CC_RATES])
{
	struct cc_rate by_rank[CC_RATES + 1] = { 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < cc->n; i++)
		count_links(by_rank, cc->entries[i]);
	for (unsigned rank = 1; cc->conf && rank <= CC_RATES; rank++) {
		if (!by_rank[rank].rate)
			continue;
		ret[n] = by_rank[rank];
		add_numbers(cc->conf, &ret[n++]);
	}
	return n;
}

void cc_slow_down(const struct cc *cc, struct cc_slow_down *ret)
{
	const struct conf *c = cc->conf;
	unsigned n;
	struct conf_cct_entry last = { 0 };

	assert(c);
	n = cc_table_entries(c, CONF_CCT_MAX);
	if (n)
		last = cc_table_entry(c, n - 1, n, cc->incast);
	*ret = (struct cc_slow_down){
		.profile = c->cc_profile,
		.entries = n,
		.longest = (unsigned)last.multiplier >> last.shift,
		.incast = cc_profile_of(c) == CC_PROFILE_INCAST && !c->cc_cct.n ? cc->incast : 0,
		.port_settings = c->cc_sw_port_cong_setting.n
					 ? conf_value_text(c, CONF_ID_cc_sw_port_cong_setting)
					 : NULL,
		.spared_sls = c->cc_no_throttle_sls,
	};
}
