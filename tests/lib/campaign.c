// SPDX-License-Identifier: BSD-2-Clause
/* Plans of lives, lives, and campaigns of many of them. */
#include "tests/lib/campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/campaign-impl.h"
#include "util/log.h"
#include "util/mem.h"

static const char *const kind_names[N_FAULT_KINDS] = {
#define FAULT_NAME(id, name) [FAULT_##id] = name,
	FAULT_KINDS(FAULT_NAME)
#undef FAULT_NAME
};

static uint32_t kind_bit(const char *word, size_t len)
{
	if (len == 3 && !strncmp(word, "all", 3))
		return ((1u << N_FAULT_KINDS) - 1) & ~(1u << FAULT_SEEDS); /* by name only */
	for (unsigned k = 0; k < N_FAULT_KINDS; k++)
		if (strlen(kind_names[k]) == len && !strncmp(word, kind_names[k], len))
			return 1u << k;
	return 0;
}

uint32_t life_mix(const char *text)
{
	uint32_t kinds = 0;

	for (const char *at = text ? text : "all"; *at;) {
		size_t len = strcspn(at, ",");
		bool without = *at == '-';
		uint32_t bit = kind_bit(at + without, len - without);

		if (!bit)
			return 0;
		kinds = without ? kinds & ~bit : kinds | bit;
		at += len;
		at += *at == ',';
	}
	return kinds;
}

static mono_t draw_wait(struct dice *d)
{
	switch (roll(d, 4)) {
	case 0:
		return (mono_t)roll(d, 5000);
	case 1:
		return (mono_t)roll(d, 20000) * MONO_MS;
	default:
		return (mono_t)roll(d, 1500) * MONO_MS;
	}
}

struct life_fault world_draw_fault(struct dice *d, uint32_t kinds)
{
	struct life_fault f;

	do
		f.kind = (uint8_t)roll(d, FIRST_SHAPE);
	while (!(kinds >> f.kind & 1));
	f.dice = (uint64_t)roll(d, UINT32_MAX) << 32;
	f.dice |= roll(d, UINT32_MAX);
	f.wait = draw_wait(d);
	return f;
}

void life_plan_make(struct life_plan *ret, uint64_t seed, uint32_t kinds)
{
	struct dice d = { .s = seed };
	uint32_t faults = kinds & ((1u << FIRST_SHAPE) - 1);

	*ret = (struct life_plan){ .seed = seed, .kinds = kinds };
	ret->calm = chance(&d, 3, 4) ? 20 * MONO_S : (mono_t)roll(&d, 20000);
	ret->n = faults ? 1 + roll(&d, chance(&d, 1, 2) ? 8 : 40) : 0;
	for (unsigned i = 0; i < ret->n; i++)
		ret->faults[i] = world_draw_fault(&d, faults);
}

void life_plan_print(const struct life_plan *plan, FILE *out)
{
	fprintf(out, "seed %llu, kinds 0x%x, calm for %lld us\n", (unsigned long long)plan->seed,
		plan->kinds, (long long)plan->calm);
	for (unsigned i = 0; i < plan->n; i++)
		fprintf(out, "  %s 0x%016llx, then wait %lld us\n",
			kind_names[plan->faults[i].kind], (unsigned long long)plan->faults[i].dice,
			(long long)plan->faults[i].wait);
}

/* ---- one life ------------------------------------------------------------------------------ */

void world_take_log(void *arg, unsigned bits, const char *text)
{
	struct world *w = arg;

	w->log_lines++;
	w->log_errors += (bits & LOGB_ERROR) != 0;
	if (w->loud)
		fprintf(stderr, "%12.6f %02x %-4s %s\n", (double)sim_now(w->sim) / MONO_S, bits,
			w->rig && w->rig->acting ? w->rig->acting : "", text);
}

bool life_run(const struct life_plan *plan, bool loud, struct life_result *ret)
{
	struct world *w = xcalloc(1, sizeof(*w));

	*ret = (struct life_result){ .why = "" };
	w->result = ret;
	log_set_sink(world_take_log, w);
	if (loud)
		log_configure(&(struct log_config){ .flags = 0x0F });
	w->loud = loud;
	world_open(w, plan);
	world_run(w, plan->calm);
	world_note_lids(w);
	for (unsigned i = 0; i < plan->n; i++) {
		if (loud)
			fprintf(stderr, "%12.6f ---- %s 0x%llx\n", (double)sim_now(w->sim) / MONO_S,
				kind_names[plan->faults[i].kind],
				(unsigned long long)plan->faults[i].dice);
		world_fault(w, &plan->faults[i]);
		world_run(w, plan->faults[i].wait);
	}
	if (loud)
		fprintf(stderr, "%12.6f ---- mended\n", (double)sim_now(w->sim) / MONO_S);
	world_mend(w);
	world_judge(w);
	if (loud)
		fprintf(stderr, "%12.6f ---- %s\n", (double)sim_now(w->sim) / MONO_S,
			ret->why[0] ? ret->why : "well");
	world_close(w);
	log_set_sink(NULL, NULL);
	free(w);
	return !ret->why[0];
}

/* ---- making it short ------------------------------------------------------------------------ */

/* The same fault in words; counts and names of ports in front of them may differ. */
static bool is_same_fault(const char *a, const char *b)
{
	const char *x = strchr(a, ' '), *y = strchr(b, ' ');

	return x && y && !strncmp(x, y, MIN(strcspn(x, "0123456789"), 16u));
}

/* In a process of its own; a crash is a failure like any other. `why`: no other fault counts. */
static bool fails(const struct life_plan *plan, const char *why)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct life_result r;

		if (!freopen("/dev/null", "w", stderr))
			_exit(2);
		_exit(life_run(plan, false, &r) || !is_same_fault(why, r.why) ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
}

static struct life_plan without(const struct life_plan *plan, unsigned from, unsigned n)
{
	struct life_plan ret = *plan;

	n = MIN(n, plan->n - from);
	memmove(&ret.faults[from], &ret.faults[from + n],
		(plan->n - from - n) * sizeof(ret.faults[0]));
	ret.n -= n;
	return ret;
}

static bool drop_faults(struct life_plan *plan, const char *why, unsigned chunk)
{
	bool any = false;

	for (unsigned from = 0; from < plan->n;) {
		struct life_plan less = without(plan, from, chunk);

		if (fails(&less, why))
			*plan = less, any = true;
		else
			from += chunk;
	}
	return any;
}

static bool drop_kinds(struct life_plan *plan, const char *why)
{
	bool any = false;

	for (unsigned k = 0; k < N_FAULT_KINDS; k++) {
		struct life_plan less = *plan;

		less.kinds &= ~(1u << k);
		if (less.kinds == plan->kinds || !fails(&less, why))
			continue;
		*plan = less;
		any = true;
	}
	return any;
}

void life_shrink(struct life_plan *plan, const char *why)
{
	bool any = true;

	fflush(NULL);
	while (any) {
		any = drop_kinds(plan, why);
		for (unsigned chunk = MAX(plan->n / 2, 1u); chunk > 0; chunk /= 2)
			any |= drop_faults(plan, why, chunk);
	}
}

/* ---- many ---------------------------------------------------------------------------------- */

static void report(const struct campaign *c, const char *mix, struct life_plan *plan,
		   const struct life_result *r)
{
	struct life_result again;

	printf("# seed %llu: %s\n#   %s %llu 1 %s\n", (unsigned long long)plan->seed, r->why,
	       c->name, (unsigned long long)plan->seed, mix);
	if (getenv("SHRINK")) {
		life_shrink(plan, r->why);
		life_plan_print(plan, stdout);
		life_run(plan, getenv("LOUD") != NULL, &again);
		printf("#   shrunk: %s\n", again.why);
	}
	fflush(stdout);
}

int campaign_run(const struct campaign *c, int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : c->first;
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : argc > 1 ? 1 : c->n, bad = 0;
	const char *mix = argc > 3 ? argv[3] : c->mix;
	mono_t slowest = 0;
	bool loud = getenv("LOUD") && !getenv("SHRINK");

	if (!life_mix(mix)) {
		fprintf(stderr, "%s [SEED [N [MIX]]]: no such mix: %s\n", c->name, mix);
		return -1;
	}
	for (unsigned i = 0; i < n; i++) {
		struct life_plan plan;
		struct life_result r;

		life_plan_make(&plan, first + i, life_mix(mix));
		if (!life_run(&plan, loud, &r))
			bad++, report(c, mix, &plan, &r);
		slowest = MAX(slowest, r.healed);
	}
	printf("# %u lives of %s from seed %llu: %u bad, slowest to heal %lld s\n", n, mix,
	       (unsigned long long)first, bad, (long long)(slowest / MONO_S));
	return (int)bad;
}
