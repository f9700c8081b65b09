// SPDX-License-Identifier: BSD-2-Clause
/*
 * The commands of administrators: opensmctl and REST requests as programs of their own, which talk
 * to the control socket of a manager of the rig.
 *
 * Virtual time stands still while a program runs, except while a call waits for the manager: one
 * that is answered later, or that follows events. To see those, all bytes pass a relay between the
 * program's socket and the listener's, which also writes each message down.
 */
#include "tests/scenario/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/json.h"
#include "api/schema.h"
#include "control/control.h"
#include "daemon/listen.h"
#include "metrics/metrics.h"
#include "show/show.h"
#include "tests/lib/scratch.h"
#include "tests/scenario/record.h"
#include "tests/lib/schema-fits.h"
#include "util/mem.h"

#define N_WIRES	   4
#define N_JOBS	   16
#define SAID_MAX   (4u << 20)
#define REAL_LIMIT 120		 /* s that a program may run, by the clock on the wall */
#define TIME_LIMIT (600 * MONO_S) /* that a call may wait for the manager */
#define EPOCH_S	   1700000000ll

/* One direction of a connection. */
struct flow {
	int from, to;
	char *bytes; /* not written to `to` yet */
	size_t len, cap;
	char *message; /* begun; its final zero has not come yet */
	size_t message_len, message_cap;
};

/* A connection of the program; it is not open if `asks.from` is -1. */
struct wire {
	struct flow asks, answers;
	bool waits; /* set while its call waits for the manager */
	const struct control_method *method; /* of its last call; NULL: there is no such one */
};

/* The control socket of one manager. */
struct desk {
	struct front *front;
	unsigned place; /* in the rig */
	struct daemon_api api;
	struct metrics_tally tally;
	struct listen_control *listener; /* NULL: not opened yet */
	int socket; /* where the relay listens for the program; -1: not open */
	char relay_dir[SCRATCH_PATH + 16], run_dir[SCRATCH_PATH + 16];
};

struct front {
	struct scenario *s;
	sd_event *event;
	char dir[SCRATCH_PATH];	   /* "": not made yet */
	char folder[SCRATCH_PATH + 80];
	char unfit[FITS_WHY + 60]; /* the last answer that does not fit its schema; "": all do */
	struct desk desks[RIG_MAX_SMS];
	struct wire wires[N_WIRES];
	struct sm_job *jobs[N_JOBS];
	unsigned n_jobs;
};

/* ---- the daemon's part ----------------------------------------------------------------------- */

static void front_wake(void *arg)
{
}

static void front_reload(void *arg)
{
	struct desk *d = arg;

	sm_request_heavy(d->api.sm, d->front->s->conf);
}

static void front_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	const struct desk *d = arg;

	*ret_now = sim_now(d->front->s->rig->sim);
	*ret_realtime = EPOCH_S * MONO_S + *ret_now;
}

static void front_check(void *arg, struct conf_report *ret, char **ret_news)
{
	*ret_news = NULL;
}

static void front_submit(void *arg, struct sm_job *job)
{
	struct desk *d = arg;

	if (d->front->n_jobs == N_JOBS)
		abort();
	d->front->jobs[d->front->n_jobs++] = job;
}

static bool work(struct front *f)
{
	bool any = f->n_jobs > 0;

	while (f->n_jobs) {
		struct sm_job *job = f->jobs[0];

		memmove(f->jobs, f->jobs + 1, --f->n_jobs * sizeof(f->jobs[0]));
		job->run(job);
		job->done(job);
	}
	return any;
}

void front_event(struct rig_sm *sm, const struct sm_event *event)
{
	struct scenario *s = sm->rig->owner;
	struct desk *d = &s->front->desks[sm - s->rig->sms];

	daemon_api_note(&d->api, event);
	control_remember(&d->api, event);
	metrics_tally_event(&d->tally, event, (EPOCH_S * MONO_S + sim_now(s->rig->sim)) / MONO_US);
	if (d->listener)
		listen_control_event(d->listener, event);
}

/* All that events need, which come while sm_new() runs already. */
static void prepare(struct desk *d, struct front *front, unsigned place)
{
	*d = (struct desk){ .front = front, .place = place, .socket = -1 };
	d->api = (struct daemon_api){
		.version = "4.0.0",
		.instance = "opensm",
		.conf_path = "/nonexistent/opensm.conf",
		.port_name = "sim0/1",
		.started_realtime = EPOCH_S,
		.wake = front_wake,
		.reload = front_reload,
		.clock = front_clock,
		.check = front_check,
		.submit = front_submit,
		.arg = d,
	};
}

struct front *front_new(struct scenario *s)
{
	struct front *f = xcalloc(1, sizeof(*f));

	f->s = s;
	for (unsigned i = 0; i < N_WIRES; i++)
		f->wires[i].asks.from = -1;
	for (unsigned i = 0; i < RIG_MAX_SMS; i++)
		prepare(&f->desks[i], f, i);
	return f;
}

void front_sm_starts(struct front *f, unsigned place, const struct conf *conf)
{
	struct daemon_api *api = &f->desks[place].api;

	api->sm = f->s->rig->sms[place].sm;
	api->perf = perf_new(conf, NULL);
	api->cc = cc_new();
	api->conf = conf_ref(conf);
	api->started = sim_now(f->s->rig->sim);
}

void front_sm_goes(struct front *f, unsigned place)
{
	struct desk *d = &f->desks[place];

	work(f);
	if (d->listener)
		listen_control_sm_gone(d->listener);
	d->listener = listen_control_close(d->listener);
	if (d->socket >= 0)
		close(d->socket);
	d->socket = -1;
	perf_free(d->api.perf);
	cc_free(d->api.cc);
	conf_unref(d->api.conf);
	control_forget(&d->api);
	prepare(d, f, place);
}

void front_close(struct front *f)
{
	for (unsigned i = 0; i < RIG_MAX_SMS; i++)
		if (f->desks[i].api.conf)
			front_sm_goes(f, i);
}

struct front *front_free(struct front *f)
{
	if (!f)
		return NULL;
	/* The managers told of their ends, too. */
	for (unsigned i = 0; i < RIG_MAX_SMS; i++)
		control_forget(&f->desks[i].api);
	sd_event_unref(f->event);
	if (*f->dir)
		scratch_remove(f->dir);
	free(f);
	return NULL;
}

/* ---- the relay ------------------------------------------------------------------------------- */

static int unix_socket(const char *path, bool listens)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (listens ? bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, N_WIRES) < 0 :
		      connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static const struct control_method *method_of(struct json_object *call)
{
	static const struct control_method *const tables[] = { control_methods, show_methods };
	const char *name = strrchr(json_str(call, "method"), '.');

	for (size_t i = 0; name && i < ARRAY_SIZE(tables); i++)
		for (const struct control_method *m = tables[i]; m->name; m++)
			if (!strcmp(m->name, name + 1))
				return m;
	return NULL;
}

/* Is a call answered by what the manager does, in its time? */
static bool waits_for_manager(const struct control_method *m, struct json_object *call)
{
	bool more = json_object_get_boolean(json_object_object_get(call, "more"));

	return m && (m->begin || (m->follow && more));
}

/* Every answer has the members that its method describes, and no others. */
static void judge_answer(struct front *f, const struct control_method *m,
			 struct json_object *message)
{
	struct json_object *schema;
	char why[FITS_WHY];

	if (!m || !m->gives || json_object_object_get(message, "error"))
		return;
	schema = schema_of("", m->gives, SCHEMA_STRICT);
	if (!schema_fits(NULL, schema, json_object_object_get(message, "parameters"), why))
		snprintf(f->unfit, sizeof(f->unfit), "answer of %s: %s", m->name, why);
	json_object_put(schema);
}

static void on_message(struct front *f, struct wire *w, bool is_answer, const char *text)
{
	struct json_object *message = json_tokener_parse(text);

	if (is_answer) {
		judge_answer(f, w->method, message);
		w->waits = w->waits && json_object_get_boolean(
						json_object_object_get(message, "continues"));
	} else {
		w->method = method_of(message);
		w->waits = waits_for_manager(w->method, message);
	}
	record_text(f->s->record, is_answer ? "> " : "< ", text);
	json_object_put(message);
}

static void note_bytes(struct front *f, struct wire *w, struct flow *flow, const char *bytes,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		GROW(flow->message, flow->message_len + 1, flow->message_cap);
		flow->message[flow->message_len++] = bytes[i];
		if (bytes[i])
			continue;
		on_message(f, w, flow == &w->answers, flow->message);
		flow->message_len = 0;
	}
}

static void end_wire(struct wire *w)
{
	struct flow *flows[] = { &w->asks, &w->answers };

	close(w->asks.from);
	close(w->asks.to);
	for (unsigned i = 0; i < ARRAY_SIZE(flows); i++) {
		free(flows[i]->bytes);
		free(flows[i]->message);
	}
	*w = (struct wire){ .asks = { .from = -1 } };
}

/* True: something moved. *ret_gone: that end has closed. */
static bool relay(struct front *f, struct wire *w, struct flow *flow, bool *ret_gone)
{
	char bytes[65536];
	ssize_t n = read(flow->from, bytes, sizeof(bytes)), sent = 0;

	if (n > 0) {
		for (size_t i = 0; i < (size_t)n; i++) {
			GROW(flow->bytes, flow->len + 1, flow->cap);
			flow->bytes[flow->len++] = bytes[i];
		}
		note_bytes(f, w, flow, bytes, (size_t)n);
	}
	if (flow->len)
		sent = send(flow->to, flow->bytes, flow->len, MSG_NOSIGNAL);
	if (sent > 0) {
		flow->len -= (size_t)sent;
		memmove(flow->bytes, flow->bytes + sent, flow->len);
	}
	*ret_gone |= n == 0 || (n < 0 && errno != EAGAIN);
	return n > 0 || sent > 0;
}

static void take_connection(struct front *f, struct desk *d)
{
	_cleanup_free_ char *path = xasprintf("%s/opensm.sock", d->run_dir);
	int fd = accept4(d->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), to;

	if (fd < 0)
		return;
	to = unix_socket(path, false);
	for (unsigned i = 0; to >= 0 && i < N_WIRES; i++) {
		struct wire *w = &f->wires[i];

		if (w->asks.from >= 0)
			continue;
		w->asks = (struct flow){ .from = fd, .to = to };
		w->answers = (struct flow){ .from = to, .to = fd };
		return;
	}
	abort(); /* opensmctl and rest-once have one connection at a time, fewer than N_WIRES */
}

/* All that can be done now; true: something was. */
static bool turn(struct front *f, struct desk *d)
{
	bool any = false;

	take_connection(f, d);
	for (unsigned i = 0; i < N_WIRES; i++) {
		struct wire *w = &f->wires[i];
		bool gone = false;

		if (w->asks.from < 0)
			continue;
		any |= relay(f, w, &w->asks, &gone);
		any |= relay(f, w, &w->answers, &gone);
		if (gone)
			end_wire(w);
	}
	while (sd_event_run(f->event, 0) > 0)
		any = true;
	return work(f) || any;
}

static bool any_waits(const struct front *f)
{
	for (unsigned i = 0; i < N_WIRES; i++)
		if (f->wires[i].asks.from >= 0 && f->wires[i].waits)
			return true;
	return false;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* What has come through the pipe until now, added to f->s->said. True: it is at its end. */
static bool take_output(struct scenario *s, int pipe_end)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(pipe_end, bytes, sizeof(bytes))) > 0) {
		size_t had = s->said ? strlen(s->said) : 0;

		if (had + (size_t)n < SAID_MAX) {
			s->said = xrealloc(s->said, had + (size_t)n + 1, 1);
			memcpy(s->said + had, bytes, (size_t)n);
			s->said[had + (size_t)n] = 0;
		}
	}
	return n == 0;
}

/* Until something may have come, or for some ms. */
static void wait_a_moment(const struct front *f, const struct desk *d, int pipe_end)
{
	struct pollfd fds[3 + 2 * N_WIRES] = { { .fd = d->socket, .events = POLLIN },
					       { .fd = pipe_end, .events = POLLIN },
					       { .fd = sd_event_get_fd(f->event),
						 .events = POLLIN } };
	nfds_t n = 3;

	for (unsigned i = 0; i < N_WIRES; i++) {
		if (f->wires[i].asks.from < 0)
			continue;
		fds[n++] = (struct pollfd){ .fd = f->wires[i].asks.from, .events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = f->wires[i].answers.from, .events = POLLIN };
	}
	poll(fds, n, 10);
}

/* Serves a program until it has closed its output; -ETIMEDOUT: it was ended before. */
static int serve(struct front *f, struct desk *d, int pipe_end, pid_t child)
{
	struct rig *rig = f->s->rig;
	mono_t limit = sim_now(rig->sim) + TIME_LIMIT;
	time_t until = time(NULL) + REAL_LIMIT;

	while (!take_output(f->s, pipe_end)) {
		if (time(NULL) > until || sim_now(rig->sim) > limit) {
			kill(child, SIGKILL);
			return -ETIMEDOUT;
		}
		if (turn(f, d))
			continue;
		if (any_waits(f))
			rig_run(rig, sim_now(rig->sim) + MONO_MS);
		else
			wait_a_moment(f, d, pipe_end);
	}
	return 0;
}

/* Its exit code, or -errno. */
static int run_program(struct front *f, struct desk *d, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int ends[2], r, status = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	r = -posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (r == 0) {
		r = serve(f, d, ends[0], child);
		waitpid(child, &status, 0);
	}
	close(ends[0]);
	for (unsigned i = 0; i < N_WIRES; i++)
		if (f->wires[i].asks.from >= 0)
			end_wire(&f->wires[i]);
	turn(f, d);
	return r < 0 ? r : WIFEXITED(status) ? WEXITSTATUS(status) : -ECANCELED;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *front_scratch(struct front *f)
{
	if (!*f->dir)
		scratch_folder(f->dir);
	return f->dir;
}

const char *front_folder(struct front *f, const char *node)
{
	snprintf(f->folder, sizeof(f->folder), "%s/state-%s", front_scratch(f), node);
	mkdir(f->folder, 0755);
	return f->folder;
}

const char *front_folders(const struct front *f)
{
	return f->dir;
}

static int open_desk(struct front *f, struct desk *d)
{
	_cleanup_free_ char *path = NULL;

	if (d->listener)
		return 0;
	if (!f->event && sd_event_new(&f->event) < 0)
		return -ENOMEM;
	snprintf(d->run_dir, sizeof(d->run_dir), "%s/sm%u", front_scratch(f), d->place);
	snprintf(d->relay_dir, sizeof(d->relay_dir), "%s/ctl%u", f->dir, d->place);
	mkdir(d->run_dir, 0755);
	mkdir(d->relay_dir, 0755);
	path = xasprintf("%s/opensm.sock", d->relay_dir);
	unlink(path);
	d->api.run_dir = d->run_dir;
	d->listener = listen_control_open(f->event, &d->api);
	d->socket = unix_socket(path, true);
	return d->listener && d->socket >= 0 ? 0 : -EIO;
}

/* `on NODE`, else the only master, else the first manager that runs. */
static int find_place(struct scenario *s, const struct words *w, unsigned *first)
{
	const struct sm *master = rig_master(s->rig);
	unsigned place;

	if (w->n > *first + 1 && !strcmp(w->w[*first], "on")) {
		if (parse_sm(s, w->w[*first + 1], &place) < 0)
			return -EINVAL;
		*first += 2;
		return (int)place;
	}
	for (place = 0; place < s->rig->n_sms; place++)
		if (s->rig->sms[place].sm && (!master || s->rig->sms[place].sm == master))
			return (int)place;
	return fault(s, "no manager runs");
}

/* The path of a program; `name` is relative to the folder of the runner. To be freed. */
static char *program_path(const char *name)
{
	char self[400] = "";
	char *slash;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return NULL;
	slash = strrchr(self, '/');
	return xasprintf("%.*s/%s", (int)(slash - self), self, name);
}

/* The last words that were said, for a line of a test. */
static void fault_of_output(struct scenario *s, int code)
{
	const char *text = s->said ? s->said : "";
	size_t len = strlen(text);

	fault(s, "exit code %d: %s", code, len > 600 ? text + len - 600 : text);
	for (char *c = s->error; *c; c++)
		if (*c == '\n')
			*c = ' ';
}

/* The words from `first` on as scenario_expand() has them; `ret_text` holds them. */
static int expand_words(struct scenario *s, const struct words *w, unsigned first, char **ret_text,
			struct words *ret)
{
	char *save, *word;

	*ret = (struct words){ .n = 0 };
	*ret_text = scenario_join(s, w, first);
	if (!*ret_text)
		return -EINVAL;
	for (word = strtok_r(*ret_text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		ret->w[ret->n++] = word;
	return 0;
}

/*
 * Words from `first` on; 'several words' are one argument, as in a shell. `text` holds those.
 * False: a quote is not closed.
 */
static bool to_arguments(const struct words *w, unsigned first, char *text, char **argv)
{
	bool quoted = false;

	for (unsigned i = first; i < w->n; i++) {
		const char *word = w->w[i] + (!quoted && *w->w[i] == '\'');
		size_t len = strlen(word);

		if (!quoted)
			*argv++ = text;
		quoted |= word > w->w[i];
		memcpy(text, word, len + 1);
		text += len + 1;
		if (quoted && len && word[len - 1] == '\'') {
			text[-2] = 0;
			quoted = false;
		} else if (quoted) {
			text[-1] = ' ';
		}
	}
	*argv = NULL;
	return !quoted;
}

static int run_words(struct scenario *s, const char *name, const struct words *w, unsigned first,
		     int expected)
{
	_cleanup_free_ char *path = program_path(name);
	char *argv[MAX_WORDS + 2] = { path };
	_cleanup_free_ char *words_text = NULL, *text = NULL;
	int place = find_place(s, w, &first), code;
	struct words words;
	struct desk *d;

	if (place < 0 || expand_words(s, w, first, &words_text, &words) < 0)
		return -EINVAL;
	text = xcalloc(MAX_WORDS, strlen(s->text) + 40); /* has room for all words */
	d = &s->front->desks[place];
	if (open_desk(s->front, d) < 0)
		return fault(s, "there is no control socket");
	if (!to_arguments(&words, 0, text, argv + 1))
		return fault(s, "expected a ' that closes the argument");
	snprintf(d->api.status, sizeof(d->api.status), "%s", s->rig->sms[place].status);
	setenv("OPENSM_RUN_DIR", d->relay_dir, 1);
	unsetenv("OPENSM_INSTANCE");
	setenv("TZ", "UTC", 1);
	free(s->said);
	s->said = NULL;
	record_text(s->record, "$ ", s->text);
	code = run_program(s->front, d, argv);
	record_text(s->record, "", s->said ? s->said : "");
	if (s->shows_log)
		printf("%s", s->said ? s->said : "");
	if (s->front->unfit[0])
		return fault(s, "%s", s->front->unfit);
	if (code != expected)
		fault_of_output(s, code);
	tap(s, code == expected);
	return 0;
}

int scenario_ctl(struct scenario *s, const struct words *w)
{
	return run_words(s, "../../bin/opensmctl", w, 1, strcmp(w->w[0], "ctl") ? 1 : 0);
}

int scenario_rest(struct scenario *s, const struct words *w)
{
	return run_words(s, "rest-once", w, 1, strcmp(w->w[0], "rest") ? 1 : 0);
}

int scenario_metrics(struct scenario *s, const struct words *w)
{
	unsigned first = 1;
	int place = find_place(s, w, &first);
	struct metrics *m;
	struct desk *d;
	size_t len;
	FILE *out;

	if (place < 0)
		return -EINVAL;
	d = &s->front->desks[place];
	free(s->said);
	s->said = NULL;
	out = open_memstream(&s->said, &len);
	m = metrics_take(&d->api, &d->tally, conf_metrics_groups(d->api.conf->metrics_groups));
	metrics_render(m, false, out);
	metrics_free(m);
	fclose(out);
	if (s->shows_log)
		printf("%s", s->said);
	tap(s, true);
	return 0;
}
