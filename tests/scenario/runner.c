// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs one scenario file and prints TAP. The file is run once per seed of its `seeds` line (default
 * 1); `same-fabric` demands that all runs end in the same tables. Fabrics are worn
 * (sim/gen/wear.c), by the seed of the run or by that of --wear (0: clean), unless the file says
 * `clean`. What is not a sentence of the grammar ends everything with "Bail out! FILE:LINE: why".
 *
 * SCENARIO_LOG=1 shows the managers' log, and what programs print; SCENARIO_RECORD=PREFIX writes
 * down what they send (record.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/rounds.h"
#include "tests/scenario/front.h"
#include "tests/scenario/record.h"
#include "tests/scenario/scenario.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define MAX_VARIES 16
#define VARIED_LEN 40 /* of a word with $, and its end */

struct script {
	const char *file;
	char *text;
	size_t len;
	uint64_t seeds[MAX_SEEDS];
	unsigned n_seeds;
	bool same_fabric;
	bool clean, wear_given;
	bool wants_front; /* administrators do something */
	bool wants_story; /* events are looked at */
	uint64_t wear;	  /* of all runs, if given */
	char **words;	  /* of the file: nodes that it names are spared; ends with NULL */
	unsigned n_words, cap_words;
	struct record *record; /* NULL: none */
	bool shows_log;
	unsigned n_cases;	/* lines `case` */
	struct {
		unsigned of_case; /* number of the case, from 1; 0: the file has no cases */
		uint64_t first, last, step;
	} varies[MAX_VARIES]; /* lines `vary` */
	unsigned n_varies;
	unsigned tests, failed; /* all runs together */
};

static void tap_line(struct script *sc, bool ok, const char *text, unsigned line, uint64_t seed)
{
	sc->tests++;
	sc->failed += !ok;
	printf("%s %u - %u: %s", ok ? "ok" : "not ok", sc->tests, line, text);
	if (sc->n_seeds > 1)
		printf(" (seed %llu)", (unsigned long long)seed);
	printf("\n");
}

void tap(struct scenario *s, bool ok)
{
	tap_line(s->script, ok, s->text, s->line, s->seed);
	if (!ok)
		printf("# %s:%u: %s\n", s->file, s->line, s->error);
	s->over |= !ok;
}

static unsigned split(char *line, struct words *ret)
{
	char *save, *hash = strchr(line, '#');

	if (hash)
		*hash = 0;
	ret->n = 0;
	for (char *w = strtok_r(line, " \t\r", &save); w && ret->n < MAX_WORDS;
	     w = strtok_r(NULL, " \t\r", &save))
		ret->w[ret->n++] = w;
	return ret->n;
}

static bool is_head(const char *word)
{
	return !strcmp(word, "seeds") || !strcmp(word, "same-fabric") || !strcmp(word, "clean") ||
	       !strcmp(word, "spare") || !strcmp(word, "vary");
}

static int bail(const struct script *sc, unsigned line, const char *why)
{
	printf("Bail out! %s:%u: %s\n", sc->file, line, why);
	return -EINVAL;
}

/* Calls `each` for every line that has words; stops when it returns non-zero. */
static int each_line(const struct script *sc,
		     int (*each)(void *arg, unsigned line, const char *text, struct words *w),
		     void *arg)
{
	_cleanup_free_ char *copy = xstrdup(sc->text);
	char *at = copy;
	unsigned line = 0;
	int r = 0;

	while (r == 0 && at) {
		char *end = strchr(at, '\n');
		_cleanup_free_ char *text = NULL;
		struct words w;

		if (end)
			*end++ = 0;
		line++;
		text = xstrdup(at);
		if (strchr(text, '#'))
			*strchr(text, '#') = 0;
		str_printable(text, strlen(text), text, strlen(text) + 1);
		if (split(at, &w))
			r = each(arg, line, text, &w);
		at = end;
	}
	return r;
}

/* vary FIRST LAST STEP: the case is run for each of these numbers, for which $ stands there */
static int read_vary(struct script *sc, unsigned line, const struct words *w)
{
	uint64_t v[3];

	for (unsigned i = 0; i < ARRAY_SIZE(v); i++)
		if (w->n != 4 || str_to_u64(w->w[i + 1], 10, 100000, &v[i]) < 0)
			return bail(sc, line, "expected vary FIRST LAST STEP");
	if (sc->n_varies == MAX_VARIES || !v[2])
		return bail(sc, line, "expected up to 16 lines `vary` with a step");
	sc->varies[sc->n_varies].of_case = sc->n_cases;
	sc->varies[sc->n_varies].first = v[0];
	sc->varies[sc->n_varies].last = v[1];
	sc->varies[sc->n_varies++].step = test_stride((unsigned)v[2]);
	return 0;
}

static int read_head(void *arg, unsigned line, const char *text, struct words *w)
{
	struct script *sc = arg;

	for (unsigned i = 0; i < w->n; i++) {
		GROW(sc->words, sc->n_words + 2, sc->cap_words);
		sc->words[sc->n_words++] = xstrdup(w->w[i]);
		sc->words[sc->n_words] = NULL;
		sc->wants_story |= !strncmp(w->w[i], "story", 5) || !strcmp(w->w[i], "told") ||
				   !strcmp(w->w[i], "event-says");
	}
	sc->same_fabric |= !strcmp(w->w[0], "same-fabric");
	sc->clean |= !strcmp(w->w[0], "clean");
	sc->n_cases += !strcmp(w->w[0], "case");
	sc->wants_front |= !strncmp(w->w[0], "ctl", 3) || !strncmp(w->w[0], "rest", 4) ||
			   !strcmp(w->w[0], "metrics") || !strcmp(w->w[0], "state") ||
			   !strcmp(w->w[0], "wipe") || !strcmp(w->w[0], "file");
	if (!strcmp(w->w[0], "vary"))
		return read_vary(sc, line, w);
	if (strcmp(w->w[0], "seeds"))
		return 0;
	sc->n_seeds = 0;
	for (unsigned i = 1; i < w->n; i++)
		if (sc->n_seeds == MAX_SEEDS ||
		    str_to_u64(w->w[i], 10, UINT64_MAX, &sc->seeds[sc->n_seeds++]) < 0)
			return bail(sc, line, "expected up to 16 numbers");
	return 0;
}

/* Puts the number of `vary` in place of $; `text` holds the words. */
static void vary_words(const struct scenario *s, struct words *w, char text[][VARIED_LEN])
{
	for (unsigned i = 0; i < w->n; i++) {
		const char *at = strchr(w->w[i], '$');

		if (!at || strlen(w->w[i]) > VARIED_LEN - 8)
			continue;
		snprintf(text[i], VARIED_LEN, "%.*s%u%s", (int)(at - w->w[i]), w->w[i],
			 (unsigned)s->varied, at + 1);
		w->w[i] = text[i];
	}
}

static int run_line(void *arg, unsigned line, const char *text, struct words *w)
{
	struct scenario *s = arg;
	char varied[MAX_WORDS][VARIED_LEN];
	int r;

	s->met_cases += !strcmp(w->w[0], "case");
	if (is_head(w->w[0]) || s->over || !strcmp(w->w[0], "case") ||
	    (s->met_cases && s->met_cases != s->of_case))
		return 0;
	s->line = line;
	s->text = text;
	vary_words(s, w, varied);
	r = scenario_command(s, w);
	return r < 0 ? bail(s->script, line, s->error) : 0;
}

static uint64_t wear_of(const struct script *sc, uint64_t seed)
{
	if (sc->clean)
		return 0;
	if (sc->wear_given)
		return sc->wear;
	return sc->same_fabric ? sc->seeds[0] : seed;
}

/* A record of the managers' log: for `logged`, and where it is shown or written down. */
static void note_log(void *arg, unsigned bits, const char *text)
{
	struct scenario *s = arg;
	size_t len = strlen(text);

	GROW(s->log, s->log_len + len + 2, s->log_cap);
	memcpy(s->log + s->log_len, text, len);
	s->log_len += len;
	s->log[s->log_len++] = '\n';
	s->log[s->log_len] = 0;
	if (s->record)
		record_log(s->record, bits, text);
	else if (s->shows_log)
		fprintf(stderr, "%10.3f %s\n",
			s->rig ? (double)sim_now(s->rig->sim) / (double)MONO_S : 0.0, text);
}

static void drop_log(void *arg, unsigned bits, const char *text)
{
}

/* One run of one case; *ret_fingerprint is the fabric in the end. */
static int run_once(struct script *sc, uint64_t seed, unsigned of_case, uint64_t varied,
		    uint64_t *ret_fingerprint)
{
	struct scenario s = { .script = sc,
			      .varied = varied,
			      .file = sc->file,
			      .seed = seed,
			      .conf = conf_new(),
			      .record = sc->record,
			      .shows_log = sc->shows_log,
			      .of_case = of_case,
			      .wants_front = sc->wants_front,
			      .wants_story = sc->wants_story,
			      .wear = wear_of(sc, seed),
			      .spare = (const char *const *)sc->words };
	int r;

	s.conf->port_state_poll_interval = 0; /* README.md */
	log_set_sink(note_log, &s);
	log_set_flags(s.conf->log_flags);
	r = each_line(sc, run_line, &s);
	*ret_fingerprint = s.rig ? sim_fingerprint(s.rig->sim) : 0;
	if (s.rig && sc->record)
		record_end(sc->record, s.rig);
	hosts_end(&s);
	if (s.front)
		front_close(s.front);
	rig_free(s.rig);
	if (s.front)
		record_ledgers(sc->record, front_folders(s.front));
	front_free(s.front);
	free(s.said);
	peers_end(&s);
	netfile_free(s.net);
	conf_unref(s.conf);
	conf_unref(s.options);
	log_set_sink(drop_log, NULL);
	for (unsigned i = 0; i < RIG_MAX_SMS; i++)
		free(s.stories[i].text);
	free(s.log);
	return r;
}

/* The case, once or for each number of its line `vary`. */
static int run_case(struct script *sc, uint64_t seed, unsigned of_case, uint64_t *ret_fingerprint)
{
	unsigned n = 0;
	int r = 0;

	while (n < sc->n_varies && sc->varies[n].of_case != of_case)
		n++;
	if (n == sc->n_varies)
		return run_once(sc, seed, of_case, 0, ret_fingerprint);
	for (uint64_t v = sc->varies[n].first; r == 0 && v <= sc->varies[n].last;
	     v += sc->varies[n].step)
		r = run_once(sc, seed, of_case, v, ret_fingerprint);
	return r;
}

/* All cases of the file, each in a fabric of its own. */
static int run_seed(struct script *sc, uint64_t seed, uint64_t *ret_fingerprint)
{
	unsigned of_case = sc->n_cases ? 1 : 0;
	int r;

	do
		r = run_case(sc, seed, of_case++, ret_fingerprint);
	while (r == 0 && of_case <= sc->n_cases);
	return r;
}

static int run_script(struct script *sc)
{
	uint64_t fingerprint[MAX_SEEDS];
	bool same = true;

	if (each_line(sc, read_head, sc) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < sc->n_seeds; i++) {
		if (run_seed(sc, sc->seeds[i], &fingerprint[i]) < 0)
			return -EINVAL;
		same &= fingerprint[i] == fingerprint[0];
	}
	if (sc->same_fabric)
		tap_line(sc, same, "same-fabric", 0, 0);
	printf("1..%u\n", sc->tests);
	return 0;
}

int main(int argc, char **argv)
{
	struct script sc = { .file = argv[argc - 1], .seeds = { 1 }, .n_seeds = 1 };
	int r;

	sc.wear_given = argc == 4 && !strcmp(argv[1], "--wear") &&
			str_to_u64(argv[2], 10, UINT64_MAX, &sc.wear) == 0;
	if (argc != 2 && !sc.wear_given) {
		fprintf(stderr, "usage: runner [--wear SEED] FILE.scn\n");
		return 2;
	}
	if (file_read(sc.file, 1 << 20, &sc.text, &sc.len) < 0) {
		printf("Bail out! %s: cannot be read\n", sc.file);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sc.record = record_new(getenv("SCENARIO_RECORD"));
	sc.shows_log = getenv("SCENARIO_LOG") != NULL;
	log_set_sink(drop_log, NULL);
	r = run_script(&sc);
	record_free(sc.record);
	free(sc.text);
	for (unsigned i = 0; i < sc.n_words; i++)
		free(sc.words[i]);
	free(sc.words);
	return r < 0 || sc.failed || !sc.tests;
}
