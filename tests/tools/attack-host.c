// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hostile host with root, on a fabric that is served: sends what tests/lib/attack-mads.c has, all
 * kinds mixed, through the umad device of the host that it runs on.
 *
 *   attack-host -n COUNT -v VICTIM -p PARTNER -m LID [-r RATE] [-s SEED] [-k KEY] [-w PATH]
 *       COUNT MADs, RATE a second (1000), drawn from SEED. VICTIM, PARTNER: port GUIDs of two hosts
 *       of another tenant. LID: the highest there is. KEY: an M_Key that its port had before. PATH:
 *       from the host to the port of the manager, such as 0,1,2,7. A line says what was sent.
 *   attack-host -j PLACE <LOG
 *       judges the log of a manager: a line for each class of attack, with the number of records
 *       that name PLACE ("'h9' port 1 (0x...), LID 12, behind 'leaf2' port 2"). Exit status 1
 *       unless each has one, and those that a kernel drops none.
 *
 * Exit status 2: not understood, or the port does not answer.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libvendor/umad.h"
#include "tests/lib/attack.h"
#include "util/mem.h"
#include "util/str.h"

#define ANSWER_MS 1000
#define CLASSES	  32u

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* ---- the own port -------------------------------------------------------------------------- */

static bool is_answer(const struct transport_event *ev, uint32_t tid)
{
	return ev->kind == TRANSPORT_MAD && (ib_get(ev->mad, SMP_TID) & UINT32_MAX) == tid &&
	       (ib_get(ev->mad, SMP_METHOD) & 0x80);
}

static bool await_answer(struct transport *tr, uint32_t tid, uint8_t *ret)
{
	long long until = now_ms() + ANSWER_MS;
	struct transport_event ev;

	while (now_ms() < until) {
		struct pollfd fd = { .fd = transport_fd(tr), .events = POLLIN };

		poll(&fd, 1, ANSWER_MS / 10);
		while (transport_receive(tr, &ev) > 0) {
			bool found = is_answer(&ev, tid);

			free(ev.whole);
			if (!found)
				continue;
			memcpy(ret, smp_data(ev.mad), SMP_DATA_SIZE);
			return true;
		}
	}
	return false;
}

static void read_own(struct attack *a, uint16_t attr, uint32_t mod, uint8_t *ret)
{
	const struct dr_path here = { .length = 0 };
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	const struct smp_head head = { .method = MAD_GET,
				       .attr = attr,
				       .mod = mod,
				       .tid = attack_roll(a, UINT32_MAX) };
	uint8_t mad[MAD_SIZE];
	int r;

	memset(ret, 0, SMP_DATA_SIZE);
	smp_build_dr(mad, &head, &here, NULL);
	r = transport_send(a->tr, &to, mad, MAD_SIZE, ANSWER_MS);
	transport_flush(a->tr);
	if (r < 0 || !await_answer(a->tr, (uint32_t)head.tid, ret))
		fprintf(stderr, "attack-host: its own port does not answer\n");
}

/* The kernel of the manager's host drops what nothing there has asked for. */
static void inject(struct attack *a, const uint8_t *mad, lid_t from)
{
	struct transport_addr to = { .lid = a->sm_lid };

	if (ib_get(mad, SMP_CLASS) == MAD_CLASS_SA || ib_get(mad, SMP_CLASS) == MAD_CLASS_PERF) {
		to.qp = 1;
		to.qkey = MAD_QP1_QKEY;
	}
	transport_send(a->tr, &to, mad, MAD_SIZE, 0);
	transport_flush(a->tr);
}

static bool open_port(struct attack *a)
{
	uint8_t info[SMP_DATA_SIZE];
	char why[256];

	if (umad_transport_open(0, &a->tr, why, sizeof(why)) < 0) {
		fprintf(stderr, "attack-host: %s\n", why);
		return false;
	}
	a->guid = a->tr->port_guid;
	a->read_own = read_own;
	a->inject = inject;
	read_own(a, IB_ATTR_PORT_INFO, 1, info);
	a->lid = (lid_t)ib_get(info, PI_LID);
	a->sm_lid = (lid_t)ib_get(info, PI_MASTER_SM_LID);
	return a->lid && a->sm_lid;
}

/* ---- sending ------------------------------------------------------------------------------- */

static void send_all(struct attack *a, unsigned long count, unsigned rate)
{
	long long start = now_ms();

	for (unsigned long i = 0; i < count; i++) {
		long long due = start + (long long)(i * 1000 / rate);

		attack_any(a, i < count / 2 ? ATTACK_OTHERS : ATTACK_ALL);
		if (due > now_ms())
			usleep((useconds_t)(due - now_ms()) * 1000);
	}
	printf("%llu forged MADs in %lld ms, from LID %u\n", (unsigned long long)a->n_sent,
	       now_ms() - start, a->lid);
}

/* ---- judging ------------------------------------------------------------------------------- */

static int judge(const char *place)
{
	struct attack a = { 0 };
	unsigned n[CLASSES] = { 0 };
	_cleanup_free_ char *line = NULL;
	size_t cap = 0;
	bool good = true, dropped;

	snprintf(a.place, sizeof(a.place), "%s", place);
	while (getline(&line, &cap, stdin) > 0) {
		for (unsigned i = 0; i < attack_n_classes && i < CLASSES; i++)
			n[i] += attack_is_event(&a, &attack_classes[i], line);
	}
	for (unsigned i = 0; i < attack_n_classes && i < CLASSES; i++) {
		if (!attack_classes[i].event)
			continue;
		dropped = attack_is_dropped(&attack_classes[i]);
		printf("%u %s%s\n", n[i], attack_classes[i].name,
		       dropped ? ", which the kernel drops" : "");
		good &= n[i] == (dropped ? 0 : 1);
	}
	return good ? 0 : 1;
}

/* ---- options ------------------------------------------------------------------------------- */

static bool read_path(struct dr_path *ret, const char *text)
{
	char *end;

	for (ret->length = 0; ret->length < IB_MAX_HOPS; ret->length++) {
		ret->hop[ret->length] = (uint8_t)strtoul(text, &end, 10);
		if (end == text)
			return false;
		if (*end != ',')
			return *end == '\0';
		text = end + 1;
	}
	return false;
}

struct options {
	unsigned long count;
	unsigned rate;
	const char *judged;
};

static bool take_option(struct attack *a, struct options *o, int option, const char *text)
{
	switch (option) {
	case 'n':
		o->count = strtoul(text, NULL, 0);
		return o->count > 0;
	case 'r':
		o->rate = (unsigned)strtoul(text, NULL, 0);
		return o->rate > 0;
	case 's':
		a->dice = strtoull(text, NULL, 0);
		return true;
	case 'v':
		a->victim = strtoull(text, NULL, 0);
		return a->victim != 0;
	case 'p':
		a->partner = strtoull(text, NULL, 0);
		return a->partner != 0;
	case 'm':
		a->max_lid = (lid_t)strtoul(text, NULL, 0);
		return a->max_lid != 0;
	case 'k':
		a->old_key = strtoull(text, NULL, 0);
		return true;
	case 'w':
		return read_path(&a->to_sm, text);
	case 'j':
		o->judged = text;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct attack a = { .dice = 1, .to_sm = { .length = 1, .hop = { 0, 1 } } };
	struct options o = { .rate = 1000 };
	int option;

	while ((option = getopt(argc, argv, "n:r:s:v:p:m:k:w:j:")) != -1) {
		if (!take_option(&a, &o, option, optarg))
			return 2;
	}
	if (o.judged)
		return judge(o.judged);
	if (!o.count || !a.victim || !a.partner || !a.max_lid || !open_port(&a))
		return 2;
	send_all(&a, o.count, o.rate);
	transport_close(a.tr);
	return 0;
}
