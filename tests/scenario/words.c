// SPDX-License-Identifier: BSD-2-Clause
/* Words of a scenario to values, with the reason when they are none. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "sim/gen/gen.h"
#include "tests/scenario/front.h"
#include "tests/scenario/record.h"
#include "tests/scenario/scenario.h"
#include "util/mem.h"
#include "util/str.h"

int fault(struct scenario *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->error, sizeof(s->error), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static unsigned count_end_ports(const struct netfile *net)
{
	unsigned ret = 0;

	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *n = &net->nodes[i];

		ret += n->type == IB_NODE_SWITCH && !n->silent;
		for (unsigned p = 1; n->type != IB_NODE_SWITCH && !n->silent && p <= n->nports; p++)
			ret += n->ports[p].peer_node >= 0 && !n->ports[p].silent;
	}
	return ret;
}

/* Silent hosts, ports of switches behind which nothing answers, cables to the switch itself. */
static unsigned count_left_out(const struct netfile *net)
{
	unsigned loops = 0, ret = 0;

	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *n = &net->nodes[i];

		ret += n->silent;
		for (unsigned p = 1; n->type == IB_NODE_SWITCH && p <= n->nports; p++) {
			ret += n->ports[p].silent;
			loops += n->ports[p].peer_node == (int)i;
		}
	}
	return ret + loops / 2;
}

/* What conditions add to the numbers of the file, which are those of a clean fabric. */
static void wear_out(struct scenario *s)
{
	unsigned end_ports = count_end_ports(s->net), left_out = count_left_out(s->net);
	size_t n = s->net->n_nodes;

	gen_wear(s->net, s->wear, s->spare);
	s->worn.end_ports = count_end_ports(s->net) - end_ports;
	s->worn.left_out = count_left_out(s->net) - left_out;
	s->worn.size = (double)s->net->n_nodes / (double)n;
}

struct sim *scenario_sim(struct scenario *s)
{
	if (!s->rig && !s->net) {
		fault(s, "no fabric yet");
		return NULL;
	}
	if (!s->rig) {
		wear_out(s);
		s->rig = rig_new(sim_new(s->net, s->seed));
		s->net = netfile_free(s->net);
		s->rig->owner = s;
		s->rig->event = s->wants_story ? story_event : s->wants_front ? front_event : NULL;
		s->front = s->wants_front ? front_new(s) : NULL;
		s->rig->between = peers_between;
		if (s->record)
			record_run(s->record, s->seed);
	}
	return s->rig->sim;
}

uint64_t scenario_lane_sets(struct scenario *s)
{
	const struct sim *sim = scenario_sim(s);

	return sim_count(sim, IB_ATTR_SL2VL, MAD_SET) + sim_count(sim, IB_ATTR_VLARB, MAD_SET);
}

int parse_number(struct scenario *s, const char *word, uint64_t max, uint64_t *ret)
{
	if (str_to_u64(word, 0, max, ret) < 0)
		return fault(s, "'%s' is no number up to %llu", word, (unsigned long long)max);
	return 0;
}

int parse_attr(struct scenario *s, const char *word, uint16_t *ret)
{
	static const struct {
		const char *name;
		uint16_t attr;
	} rows[] = {
		{ "lft", IB_ATTR_LFT },
		{ "pkeys", IB_ATTR_PKEY_TABLE },
		{ "sl2vl", IB_ATTR_SL2VL },
		{ "vlarb", IB_ATTR_VLARB },
		{ "port-info", IB_ATTR_PORT_INFO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, word)) {
			*ret = rows[i].attr;
			return 0;
		}
	return fault(s, "no table '%s'", word);
}

int parse_table_bits(struct scenario *s, const char *const *words, struct table_bits *ret)
{
	uint64_t v[3];

	if (parse_node(s, words[0], &ret->node) < 0 || parse_attr(s, words[1], &ret->attr) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < ARRAY_SIZE(v); i++)
		if (parse_number(s, words[2 + i], UINT32_MAX, &v[i]) < 0)
			return -EINVAL;
	ret->mod = (uint32_t)v[0];
	ret->bit = (unsigned)v[1];
	ret->width = (unsigned)v[2];
	return v[1] + v[2] <= 8 * SMP_DATA_SIZE && v[2] <= 32 ? 0 : fault(s, "no such bits");
}

int parse_key(struct scenario *s, const char *word, uint64_t *ret)
{
	*ret = s->kept_key;
	return strcmp(word, "kept") ? parse_number(s, word, UINT64_MAX, ret) : 0;
}

int parse_time(struct scenario *s, const char *word, mono_t *ret)
{
	static const struct {
		const char *unit;
		mono_t factor;
	} units[] = { { "us", MONO_US },
		      { "ms", MONO_MS },
		      { "s", MONO_S },
		      { "m", 60 * MONO_S },
		      { "h", 3600 * MONO_S } };
	char *end;
	double v = strtod(word, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units) && end != word; i++)
		if (!strcmp(end, units[i].unit) && v >= 0) {
			*ret = (mono_t)(v * (double)units[i].factor);
			return 0;
		}
	return fault(s, "'%s' is no time (3s, 20ms, 5us, 2m)", word);
}

int parse_percent(struct scenario *s, const char *word, double *ret)
{
	char *end;

	*ret = strtod(word, &end);
	if (end == word || (strcmp(end, "%") && *end) || *ret < 0 || *ret > 100)
		return fault(s, "'%s' is no percentage", word);
	return 0;
}

int parse_node(struct scenario *s, const char *word, int *ret)
{
	struct sim *sim = scenario_sim(s);

	if (!sim)
		return -EINVAL;
	*ret = sim_find(sim, word);
	return *ret < 0 ? fault(s, "no node '%s' in this fabric", word) : 0;
}

int parse_node_or_all(struct scenario *s, const char *word, int *ret)
{
	*ret = -1;
	if (!strcmp(word, "all"))
		return scenario_sim(s) ? 0 : -EINVAL;
	return parse_node(s, word, ret);
}

int parse_port(struct scenario *s, const char *word, int *ret_node, unsigned *ret_port)
{
	const char *colon = strrchr(word, ':');
	_cleanup_free_ char *name = xstrdup(word);
	uint64_t port;
	int r;

	if (colon)
		name[colon - word] = 0;
	r = parse_node(s, name, ret_node);
	if (r < 0)
		return r;
	*ret_port = sim_node_is_switch(s->rig->sim, *ret_node) ? 0 : 1;
	if (!colon)
		return 0;
	r = parse_number(s, colon + 1, sim_node_ports(s->rig->sim, *ret_node), &port);
	if (r == 0)
		*ret_port = (unsigned)port;
	return r;
}

int parse_sm(struct scenario *s, const char *word, unsigned *ret)
{
	int sm = s->rig ? rig_find(s->rig, word) : -1;

	if (sm < 0)
		return fault(s, "no manager runs on '%s'", word);
	*ret = (unsigned)sm;
	return 0;
}
