// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks a subnet administrator for path records, one after the other: for tests of what it answers.
 *
 *   path-asker < QUESTIONS
 *
 * A question is a line of KEY=NUMBER: sguid, dguid; pkey, sid, class, sl, raw, rev; mtu, rate, life
 * (selector and value in a byte, as in the record). The answer is a line: "sl S mtu M rate R pkey P
 * life L", "none" (no such path), or "status 0xN".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "ib/records.h"
#include "util/mem.h"

#define SA_QP	 1
#define SA_QKEY	 0x80010000
#define PATIENCE 3000 /* ms */
#define TRIES	 3

struct asker {
	int fd, agent;
	unsigned sm_lid;
	uint64_t prefix;
	uint32_t tid;
	uint8_t *out, *in;
};

static const struct {
	const char *key;
	uint64_t mask;
	unsigned at, len; /* bits of the record */
} fields[] = {
	{ "sguid", SA_COMP(PR_SGID), PR_SGID + 64, 64 },
	{ "dguid", SA_COMP(PR_DGID), PR_DGID + 64, 64 },
	{ "sid", SA_COMP(PR_SERVICE_ID_MSB) | SA_COMP(PR_SERVICE_ID_LSB), PR_SERVICE_ID_MSB, 64 },
	{ "pkey", SA_COMP(PR_PKEY), PR_PKEY, 16 },
	{ "class", SA_COMP(PR_QOS_CLASS), PR_QOS_CLASS, 12 },
	{ "sl", SA_COMP(PR_SL), PR_SL, 4 },
	{ "raw", SA_COMP(PR_RAW), PR_RAW, 1 },
	{ "rev", SA_COMP(PR_REVERSIBLE), PR_REVERSIBLE, 1 },
	{ "mtu", SA_COMP(PR_MTU_SEL) | SA_COMP(PR_MTU), PR_MTU_SEL, 8 },
	{ "rate", SA_COMP(PR_RATE_SEL) | SA_COMP(PR_RATE), PR_RATE_SEL, 8 },
	{ "life", SA_COMP(PR_LIFE_SEL) | SA_COMP(PR_LIFE), PR_LIFE_SEL, 8 },
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void attach(struct asker *a)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	a->prefix = __builtin_bswap64(port.gid_prefix);
	a->sm_lid = port.sm_lid;
	umad_release_port(&port);
	a->fd = umad_open_port(NULL, 0);
	a->agent = a->fd < 0 ? -1 : umad_register(a->fd, MAD_CLASS_SA, 2, 0, NULL);
	if (a->agent < 0)
		die("umad");
	a->out = xcalloc(1, umad_size() + MAD_SIZE);
	a->in = xcalloc(1, umad_size() + MAD_SIZE);
}

/* "KEY=NUMBER" into the record; the components that it sets. */
static uint64_t put_word(uint8_t *record, const char *word)
{
	const char *value = strchr(word, '=');

	for (size_t i = 0; value && i < ARRAY_SIZE(fields); i++)
		if (strlen(fields[i].key) == (size_t)(value - word) &&
		    !strncmp(word, fields[i].key, (size_t)(value - word))) {
			ib_bits_put(record, fields[i].at, fields[i].len,
				    strtoull(value + 1, NULL, 0));
			return fields[i].mask;
		}
	fprintf(stderr, "path-asker: what is '%s'?\n", word);
	exit(2);
}

static void put_question(struct asker *a, char *line)
{
	uint8_t *mad = umad_get_mad(a->out), *r = mad + SA_DATA;
	uint64_t mask = 0;

	memset(mad, 0, MAD_SIZE);
	for (char *word; (word = strsep(&line, " \n"));)
		if (*word)
			mask |= put_word(r, word);
	ib_bits_put(r, PR_SGID, 64, a->prefix);
	ib_bits_put(r, PR_DGID, 64, a->prefix);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, MAD_GET);
	ib_put(mad, SAH_ATTR_ID, SA_PATH_RECORD);
	ib_put(mad, SAH_COMP_MASK, mask);
}

/* NULL: no answer. */
static const uint8_t *exchange(struct asker *a)
{
	uint8_t *mad = umad_get_mad(a->out);

	for (int i = 0; i < TRIES; i++) {
		int length = MAD_SIZE;

		ib_put(mad, SAH_TID, ++a->tid);
		umad_set_addr(a->out, (int)a->sm_lid, SA_QP, 0, SA_QKEY);
		if (umad_send(a->fd, a->agent, a->out, MAD_SIZE, 0, 0) < 0)
			die("umad_send");
		if (umad_recv(a->fd, a->in, &length, PATIENCE) >= 0)
			return umad_get_mad(a->in);
	}
	return NULL;
}

static void print_answer(const uint8_t *mad)
{
	const uint8_t *r = mad ? mad + SA_DATA : NULL;
	unsigned status = mad ? (unsigned)ib_get(mad, SAH_STATUS) : 0;

	if (!mad)
		puts("no answer");
	else if (status == SA_NO_RECORDS)
		puts("none");
	else if (status)
		printf("status 0x%x\n", status);
	else
		printf("sl %u mtu %u rate %u pkey 0x%04x life %u\n", (unsigned)ib_get(r, PR_SL),
		       (unsigned)ib_get(r, PR_MTU), (unsigned)ib_get(r, PR_RATE),
		       (unsigned)ib_get(r, PR_PKEY), (unsigned)ib_get(r, PR_LIFE));
}

int main(void)
{
	struct asker a = { .tid = 1 };
	char line[512];

	attach(&a);
	while (fgets(line, sizeof(line), stdin)) {
		put_question(&a, line);
		print_answer(exchange(&a));
	}
	umad_close_port(a.fd);
	free(a.out);
	free(a.in);
	return 0;
}
