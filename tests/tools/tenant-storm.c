// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stream of changes to partitions over the control socket, drawn from a seed, with a journal of
 * what was asked for and what was acknowledged:
 *
 *   tenant-storm -s SOCKET -g GUIDS -j JOURNAL [-r SEED] [-c CONNECTIONS] [-k P_KEYS] [-t MS]
 *                [-w WORD]
 *
 * GUIDS has a line "HOST 0xGUID" for each port. Each connection has one request at a time. It ends
 * after MS milliseconds, when all that was sent is answered, or when all connections are lost.
 * WORD is the first word of the identifiers. JOURNAL is appended to, a line for each event:
 *
 *   S ID ACTION P_KEY GUID=MEMBERSHIP,...    is about to be sent; MEMBERSHIP full or limited, and
 *                                            @0 behind it: the P_Key is to be at index 0
 *   A ID GENERATION CHANGED PENDING STANDBYS acknowledged; PENDING: GUIDs not on a device, or "-";
 *                                            STANDBYS: how many have stored it
 *   R ID ERROR                               refused: nothing was changed
 *   U ID WHY                                 unknown: connection lost, or a device did not confirm
 *
 * Lines are in the order of the events. Exit status 0; 1: not one request was acknowledged; 2: not
 * understood.
 */
#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "util/mem.h"
#include "util/random.h"
#include "util/str.h"

#define CONNECTIONS_MAX 64
#define HOSTS_MAX	4096
#define MEMBERS_MOST	16
#define KEYS_MAX	1000
#define LAST_ANSWER_MS	30000 /* a daemon answers within 8 s, as tenancy.md wants it */
#define AFTER_REFUSAL_MS 20

struct host {
	char *name, *guid;
};

struct line {
	struct client *cl;
	uint64_t dice;
	unsigned number, n_sent;
	bool waits;	 /* for an answer */
	long long rests; /* not before this time */
	char id[64];
};

struct storm {
	const char *socket, *guids, *word;
	unsigned seed, n_lines, n_keys, ms;
	int journal;
	struct host *hosts;
	size_t n_hosts, cap_hosts;
	struct line lines[CONNECTIONS_MAX];
	unsigned acknowledged;
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static unsigned draw(struct line *l, unsigned below)
{
	return (unsigned)(random_next(&l->dice) % below);
}

/* ---- journal -------------------------------------------------------------------------------- */

/* The line is in the file before anything else happens: one write, no buffer. */
static void note(const struct storm *s, char kind, const char *id, const char *rest)
{
	_cleanup_free_ char *text = xasprintf("%c %s %s\n", kind, id, rest);

	for (char *c = text; c[1]; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	if (write(s->journal, text, strlen(text)) != (ssize_t)strlen(text)) {
		fprintf(stderr, "tenant-storm: the journal cannot be written: %s\n",
			strerror(errno));
		exit(2);
	}
}

/* ---- requests ------------------------------------------------------------------------------- */

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

/* Most of the time a P_Key of this connection alone; else any, against the other connections. */
static unsigned draw_key(const struct storm *s, struct line *l)
{
	unsigned key = draw(l, s->n_keys), own = key - key % s->n_lines + l->number;

	return 1 + (draw(l, 5) && own < s->n_keys ? own : key);
}

static const char *draw_action(struct line *l)
{
	static const struct {
		const char *action;
		unsigned percent;
	} all[] = { { "add", 42 },   { "remove", 33 },	  { "set", 12 },
		    { "create", 4 }, { "configure", 4 }, { "delete", 5 } };
	unsigned at = draw(l, 100), i = 0;

	while (at >= all[i].percent)
		at -= all[i++].percent;
	return all[i].action;
}

/* Some members, each once, into the request and, as text, into the journal's line. */
static void draw_members(const struct storm *s, struct line *l, struct json_object *members,
			 FILE *text)
{
	unsigned n = 1 + (draw(l, 3) ? draw(l, 3) : draw(l, MEMBERS_MOST));
	unsigned first = draw(l, (unsigned)s->n_hosts);
	unsigned stride = 1 + draw(l, 3);

	for (unsigned i = 0; i < n && (size_t)i * stride < s->n_hosts; i++) {
		const struct host *h = &s->hosts[(first + i * stride) % s->n_hosts];
		struct json_object *m = json_object_new_object();
		const char *membership = draw(l, 3) ? "full" : "limited";
		bool index0;

		if (draw(l, 8))
			add_text(m, "guid", h->guid);
		else
			add_text(m, "host", h->name);
		add_text(m, "membership", membership);
		index0 = !draw(l, 16);
		if (index0)
			json_object_object_add(m, "index0", json_object_new_boolean(true));
		json_object_array_add(members, m);
		fprintf(text, "%s%s=%s%s", i ? "," : "", h->guid, membership, index0 ? "@0" : "");
	}
}

/* The next request; the journal's line of it in *ret_text, to be freed. */
static struct json_object *draw_request(const struct storm *s, struct line *l, char **ret_text)
{
	struct json_object *o = json_object_new_object(), *members = json_object_new_array();
	const char *action = draw_action(l);
	char key[16];
	size_t len;
	FILE *text = open_memstream(ret_text, &len);

	snprintf(key, sizeof(key), "0x%04x", draw_key(s, l));
	fprintf(text, "%s %s ", action, key);
	add_text(o, "action", action);
	add_text(o, "pkey", key);
	if (!strcmp(action, "add") || !strcmp(action, "remove") || !strcmp(action, "set"))
		draw_members(s, l, members, text);
	else
		fputc('-', text);
	if (json_object_array_length(members))
		json_object_object_add(o, "members", members);
	else
		json_object_put(members);
	if (!strcmp(action, "configure"))
		json_object_object_add(o, "sl", json_object_new_int(0));
	fclose(text);
	return o;
}

static void lose(const struct storm *s, struct line *l, const char *why)
{
	if (l->waits)
		note(s, 'U', l->id, why);
	l->waits = false;
	l->cl = client_close(l->cl);
}

static void ask(const struct storm *s, struct line *l)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *request = draw_request(s, l, &text);

	snprintf(l->id, sizeof(l->id), "%s.%u.%u", s->word, l->number, l->n_sent++);
	note(s, 'S', l->id, text);
	l->waits = true;
	if (client_send(l->cl, "org.opensm.ChangePartition", request, false) < 0)
		lose(s, l, "cannot be sent");
	json_object_put(request);
}

/* ---- answers -------------------------------------------------------------------------------- */

static struct json_object *member_of(struct json_object *o, const char *key)
{
	struct json_object *ret = NULL;

	return json_object_object_get_ex(o, key, &ret) ? ret : NULL;
}

/* Errors with which the table is as it was; any other may have changed it. */
static bool is_refusal(const char *error)
{
	static const char *const all[] = {
		"NotFound", "InvalidParameter", "NotMaster", "NotReady", "Denied", "Busy",
		"Exists", "ReadOnly", "NoRoom", "Overtaken", "Closed", "NoStandby",
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(error, all[i]))
			return true;
	return false;
}

static char *pending_text(struct json_object *pending)
{
	char *text = NULL;
	size_t len, n = json_object_is_type(pending, json_type_array)
				? json_object_array_length(pending)
				: 0;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "," : "",
			json_object_get_string(member_of(json_object_array_get_idx(pending, i),
							 "guid")));
	if (!n)
		fputc('-', out);
	fclose(out);
	return text;
}

static void note_error(const struct storm *s, struct line *l, struct json_object *answer)
{
	const char *error = json_object_get_string(member_of(answer, "error"));
	const char *name = strrchr(error, '.') ? strrchr(error, '.') + 1 : error;
	const char *why =
		json_object_get_string(member_of(member_of(answer, "parameters"), "text"));
	_cleanup_free_ char *text = xasprintf("%s %s", name, why ? why : "");

	note(s, is_refusal(name) ? 'R' : 'U', l->id, text);
	l->rests = now_ms() + AFTER_REFUSAL_MS;
}

/* How many standbys have stored it; of a daemon that says only whether one has, 1. */
static int standbys_with(struct json_object *parameters)
{
	struct json_object *n = member_of(parameters, "standbys_with");

	return n ? json_object_get_int(n)
		 : json_object_get_boolean(member_of(parameters, "replicated"));
}

static void note_answer(struct storm *s, struct line *l, struct json_object *answer)
{
	struct json_object *p = member_of(answer, "parameters");
	_cleanup_free_ char *pending = NULL, *text = NULL;

	l->waits = false;
	if (member_of(answer, "error")) {
		note_error(s, l, answer);
		return;
	}
	pending = pending_text(member_of(p, "pending"));
	text = xasprintf("%lld %s %s %d",
			 (long long)json_object_get_int64(member_of(p, "generation")),
			 json_object_get_boolean(member_of(p, "changed")) ? "yes" : "no", pending,
			 standbys_with(p));
	note(s, 'A', l->id, text);
	s->acknowledged++;
}

static void listen_to(struct storm *s, struct line *l)
{
	struct json_object *answer;
	int r = client_receive(l->cl, 1000, &answer);

	if (r < 0) {
		lose(s, l, strerror(-r));
		return;
	}
	note_answer(s, l, answer);
	json_object_put(answer);
}

/* ---- the stream ----------------------------------------------------------------------------- */

/* False: there is no connection left, or nothing to wait for any more. */
static bool turn(struct storm *s, bool more)
{
	struct pollfd fds[CONNECTIONS_MAX];
	struct line *of[CONNECTIONS_MAX];
	unsigned n = 0, open = 0;

	for (unsigned i = 0; i < s->n_lines; i++) {
		struct line *l = &s->lines[i];

		if (l->cl && !l->waits && more && l->rests <= now_ms())
			ask(s, l);
		if (!l->cl)
			continue;
		open++;
		if (l->waits) {
			of[n] = l;
			fds[n++] = (struct pollfd){ .fd = client_fd(l->cl), .events = POLLIN };
		}
	}
	if (!open || (!n && !more))
		return false;
	if (poll(fds, n, AFTER_REFUSAL_MS) > 0)
		for (unsigned i = 0; i < n; i++)
			if (fds[i].revents)
				listen_to(s, of[i]);
	return true;
}

static void storm_run(struct storm *s)
{
	long long end = now_ms() + s->ms, last = end + LAST_ANSWER_MS;

	for (unsigned i = 0; i < s->n_lines; i++)
		s->lines[i] = (struct line){ .cl = client_open(s->socket),
					     .dice = (uint64_t)s->seed << 8 | i,
					     .number = i };
	while (now_ms() < last && turn(s, now_ms() < end))
		;
	for (unsigned i = 0; i < s->n_lines; i++)
		if (s->lines[i].cl)
			lose(s, &s->lines[i], "no answer in time");
}

/* ---- words ---------------------------------------------------------------------------------- */

static int usage(void)
{
	fputs("usage: tenant-storm -s SOCKET -g GUIDS -j JOURNAL [-r SEED] [-c CONNECTIONS] "
	      "[-k P_KEYS] [-t MS] [-w WORD]\n",
	      stderr);
	return 2;
}

static bool read_hosts(struct storm *s)
{
	FILE *in = fopen(s->guids, "re");
	struct host h;

	while (in && s->n_hosts < HOSTS_MAX && fscanf(in, "%ms %ms", &h.name, &h.guid) == 2) {
		GROW(s->hosts, s->n_hosts + 1, s->cap_hosts);
		s->hosts[s->n_hosts++] = h;
	}
	if (in)
		fclose(in);
	return s->n_hosts > 0;
}

static bool parse(struct storm *s, int argc, char **argv)
{
	const char *journal = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "s:g:j:r:c:k:t:w:")) != -1) {
		unsigned *number = opt == 'r' ? &s->seed : opt == 'c' ? &s->n_lines :
				   opt == 'k' ? &s->n_keys : opt == 't' ? &s->ms : NULL;
		uint64_t v;

		if (number && str_to_u64(optarg, 10, UINT32_MAX, &v) < 0)
			return false;
		if (number)
			*number = (unsigned)v;
		else if (opt == 's')
			s->socket = optarg;
		else if (opt == 'g')
			s->guids = optarg;
		else if (opt == 'j')
			journal = optarg;
		else if (opt == 'w')
			s->word = optarg;
		else
			return false;
	}
	if (!s->socket || !s->guids || !journal || optind < argc || !s->n_lines ||
	    s->n_lines > CONNECTIONS_MAX || !s->n_keys || s->n_keys > KEYS_MAX)
		return false;
	s->journal = open(journal, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	return s->journal >= 0 && read_hosts(s);
}

int main(int argc, char **argv)
{
	struct storm s = { .seed = 1, .n_lines = 4, .n_keys = 40, .ms = 1000, .word = "r" };

	if (!parse(&s, argc, argv))
		return usage();
	storm_run(&s);
	for (size_t i = 0; i < s.n_hosts; i++) {
		free(s.hosts[i].name);
		free(s.hosts[i].guid);
	}
	free(s.hosts);
	close(s.journal);
	return s.acknowledged ? 0 : 1;
}
