// SPDX-License-Identifier: BSD-2-Clause
/*
 * State of the judge as builds before the ledger stored it in the file link_health; read once, by
 * sm/rows/sick_rows.c. One line a record:
 *
 *	opensm link health 1
 *	sweep 812
 *	link 0x2c9030000000001 1 0x2c9030000000002 1 host ON SINCE LAST
 *	events COND TIME TIME ...
 *	counts END RING BUCKET symbols drops seconds packets wait bits-per-second
 *	off 0x2c9030000000001 1 0x2c9030000000002 1 SEEN
 *	end 0x1122334455667788
 *
 * `events` and `counts` are of the link before; `off` is a port that is disabled, and the other end
 * of its cable. The last line has the FNV-1a hash of all bytes before it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/judge_internal.h"
#include "util/hash.h"

#define HEAD "opensm link health 1\n"

static bool read_link(struct health *h, const char *line, uint32_t *ret)
{
	struct health_verdict v = { 0 };
	unsigned host;

	if (sscanf(line, "link 0x%" SCNx64 " %" SCNu8 " 0x%" SCNx64 " %" SCNu8
			 " %u %u %" SCNd64 " %" SCNd64,
		   &v.end[0].node, &v.end[0].port, &v.end[1].node, &v.end[1].port, &host, &v.on,
		   &v.since, &v.last) != 8 ||
	    !v.end[0].node || !v.end[1].node ||
	    (v.end[0].node == v.end[1].node && v.end[0].port == v.end[1].port) ||
	    v.on >= 1u << HEALTH_CONDS || v.since < 0 ||
	    v.last < v.since)
		return false;
	*ret = health_link(h, v.end[0], v.end[1], host);
	if (*ret == UINT32_MAX)
		return false;
	if (v.on)
		health_list(h, &h->all[*ret]);
	h->all[*ret].v.on = v.on;
	h->all[*ret].manual = v.on & 1u << HEALTH_MANUAL;
	h->all[*ret].v.since = v.since;
	h->all[*ret].v.last = v.last;
	return true;
}

static bool read_events(struct health *h, struct health_record *r, const char *line)
{
	char *end;
	unsigned long cond = strtoul(line + strlen("events "), &end, 10);

	if (cond >= HEALTH_EVENTS)
		return false;
	for (unsigned i = 0; *end == ' ' && i < HEALTH_MOST_EVENTS; i++) {
		const char *word = end + 1;

		health_note_time(h, r, (unsigned)cond, (uint32_t)strtoul(word, &end, 10));
		if (end == word)
			return false;
	}
	return *end == '\0';
}

static bool read_counts(struct health *h, struct health_record *r, const char *line)
{
	struct health_bucket b;
	unsigned end, which;
	uint64_t bps;
	int64_t no;
	struct health_ring *ring;

	if (sscanf(line, "counts %u %u %" SCNd64 " %u %u %u %f %f %" SCNu64, &end, &which, &no,
		   &b.symbols, &b.drops, &b.secs, &b.packets, &b.wait, &bps) != 9 ||
	    end > 1 || which > 1 || no <= 0 || no > UINT32_MAX || !isfinite(b.packets) ||
	    b.packets < 0 || !isfinite(b.wait) || b.wait < 0)
		return false;
	health_need_port(r, end)->bps = bps;
	ring = which ? &r->port[end]->wide : &r->port[end]->brief;
	if (no <= ring->no)
		return false;
	if (b.symbols || b.drops)
		health_list(h, r);
	ring->no = no;
	ring->at[no % (which ? LONG_BUCKETS : SHORT_BUCKETS)] = b;
	return true;
}

static bool read_off(struct health *h, const char *line)
{
	struct health_end at, far;
	unsigned seen;

	if (h->n_offs >= HEALTH_LINKS_MAX ||
	    sscanf(line, "off 0x%" SCNx64 " %" SCNu8 " 0x%" SCNx64 " %" SCNu8 " %u", &at.node,
		   &at.port, &far.node, &far.port, &seen) != 5 ||
	    !at.node || !at.port || !far.node || seen > 1)
		return false;
	health_off_add(h, at, far)->seen = seen;
	return true;
}

static bool read_line(struct health *h, const char *line, uint32_t *link)
{
	struct health_record *r = *link == UINT32_MAX ? NULL : &h->all[*link];

	if (!strncmp(line, "link ", 5))
		return read_link(h, line, link);
	if (!strncmp(line, "sweep ", 6))
		return sscanf(line, "sweep %u", &h->sweep) == 1;
	if (!strncmp(line, "off ", 4))
		return read_off(h, line);
	if (!strncmp(line, "events ", 7))
		return r && read_events(h, r, line);
	if (!strncmp(line, "counts ", 7))
		return r && read_counts(h, r, line);
	return false;
}

static bool read_all(struct health *h, char *text)
{
	uint32_t link = UINT32_MAX;
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) && *line)
		if (!read_line(h, line, &link))
			return false;
	return true;
}

int health_read(struct health *h, const char *text, size_t len)
{
	static const size_t tail = sizeof("end 0x1122334455667788\n") - 1;
	_cleanup_free_ char *copy = NULL;
	char want[32];

	health_forget_all(h);
	if (len < strlen(HEAD) + tail || len > HEALTH_TEXT_MAX || memchr(text, '\0', len) ||
	    strncmp(text, HEAD, strlen(HEAD)))
		return -EBADMSG;
	snprintf(want, sizeof(want), "end 0x%016" PRIx64 "\n",
		 hash_bytes(HASH_START, text, len - tail));
	if (memcmp(want, text + len - tail, tail))
		return -EBADMSG;
	copy = xmemdup(text + strlen(HEAD), len - tail - strlen(HEAD) + 1);
	copy[len - tail - strlen(HEAD)] = '\0';
	if (read_all(h, copy))
		return 0;
	health_forget_all(h);
	return -EBADMSG;
}
