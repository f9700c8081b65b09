// SPDX-License-Identifier: BSD-2-Clause
/*
 * State of the judge as text, one line a record, for the disk and for standbys:
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
 * of its cable. Links with nothing against them are left out; the
 * last line has the FNV-1a hash of all bytes before it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/judge_internal.h"
#include "util/bisect.h"
#include "util/hash.h"

#define HEAD "opensm link health 1\n"

static bool is_clean_ring(const struct health_ring *ring)
{
	for (unsigned i = 0; i < LONG_BUCKETS; i++)
		if (ring->at[i].symbols || ring->at[i].drops)
			return false;
	return true;
}

static bool is_clean(const struct health_record *r)
{
	for (unsigned i = 0; i < HEALTH_EVENTS; i++)
		if (r->times[i].n)
			return false;
	for (unsigned i = 0; i < 2; i++)
		if (r->port[i] && !is_clean_ring(&r->port[i]->wide))
			return false;
	return !r->v.on;
}

bool health_is_clean(struct health *h)
{
	while (h->n_listed) {
		struct health_record *r = &h->all[h->listed[h->n_listed - 1]];

		if (!is_clean(r))
			return false;
		r->listed = false;
		h->n_listed--;
	}
	return !h->n_offs;
}

static int by_number(const void *a, const void *b)
{
	return COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Those that are clean by now leave the list, which is sorted: the same text each time. */
static void tidy_list(struct health *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n_listed; i++) {
		struct health_record *r = &h->all[h->listed[i]];

		r->listed = !is_clean(r);
		if (r->listed)
			h->listed[n++] = h->listed[i];
	}
	h->n_listed = n;
	if (n)
		qsort(h->listed, n, sizeof(*h->listed), by_number);
}

static void put_ring(FILE *f, unsigned end, unsigned which, const struct health_ring *ring,
		     unsigned n, uint64_t bps)
{
	for (int64_t no = MAX(ring->no - (int64_t)n + 1, (int64_t)1); no <= ring->no; no++) {
		const struct health_bucket *b = &ring->at[no % n];

		if (b->secs)
			fprintf(f, "counts %u %u %" PRId64 " %u %u %u %.0f %.0f %" PRIu64 "\n", end,
				which, no, b->symbols, b->drops, b->secs, (double)b->packets,
				(double)b->wait, bps);
	}
}

static void put_record(FILE *f, const struct health_record *r)
{
	const struct health_verdict *v = &r->v;

	fprintf(f, "link 0x%" PRIx64 " %u 0x%" PRIx64 " %u %d %u %" PRId64 " %" PRId64 "\n",
		v->end[0].node, v->end[0].port, v->end[1].node, v->end[1].port, v->host, v->on,
		v->since, v->last);
	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		if (r->times[i].n)
			fprintf(f, "events %u", i);
		for (unsigned k = 0; k < r->times[i].n; k++)
			fprintf(f, " %u", r->times[i].at[k]);
		if (r->times[i].n)
			fputc('\n', f);
	}
	for (unsigned i = 0; i < 2; i++) {
		if (!r->port[i])
			continue;
		put_ring(f, i, 0, &r->port[i]->brief, SHORT_BUCKETS, r->port[i]->bps);
		put_ring(f, i, 1, &r->port[i]->wide, LONG_BUCKETS, r->port[i]->bps);
	}
}

static void put_off(FILE *f, const struct health_off *o)
{
	fprintf(f, "off 0x%" PRIx64 " %u 0x%" PRIx64 " %u %d\n", o->at.node, o->at.port,
		o->far.node, o->far.port, o->seen);
}

char *health_text(struct health *h, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	fputs(HEAD, f);
	fprintf(f, "sweep %u\n", h->sweep);
	for (uint32_t i = 0; i < h->n_offs; i++)
		put_off(f, &h->offs[i]);
	tidy_list(h);
	for (uint32_t i = 0; i < h->n_listed && ftell(f) < (long)HEALTH_TEXT_MAX - 65536; i++)
		if (h->all[h->listed[i]].v.end[0].node)
			put_record(f, &h->all[h->listed[i]]);
	fflush(f);
	fprintf(f, "end 0x%016" PRIx64 "\n", hash_bytes(HASH_START, text, *ret_len));
	fclose(f);
	return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_link(struct health *h, const char *line, uint32_t *ret)
{
	struct health_verdict v = { 0 };
	unsigned host;

	if (sscanf(line, "link 0x%" SCNx64 " %" SCNu8 " 0x%" SCNx64 " %" SCNu8
			 " %u %u %" SCNd64 " %" SCNd64,
		   &v.end[0].node, &v.end[0].port, &v.end[1].node, &v.end[1].port, &host, &v.on,
		   &v.since, &v.last) != 8 ||
	    !v.end[0].node || !v.end[1].node || v.on >= 1u << HEALTH_CONDS || v.since < 0 ||
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
	    end > 1 || which > 1 || no <= 0 || no > UINT32_MAX || !(b.packets >= 0) ||
	    !(b.wait >= 0))
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
	    !at.node || !at.port || seen > 1)
		return false;
	health_off_add(h, at, far);
	h->offs[h->n_offs - 1].seen = seen;
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
