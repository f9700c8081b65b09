// SPDX-License-Identifier: BSD-2-Clause
/*
 * A subnet that never has peace: a fault every simulated minute, of every kind, hosts that join and
 * leave, managers that are killed and started. At the end of every period all is mended, the subnet
 * must be whole, and nothing may have grown: memory in use, files and their size, open descriptors,
 * lines in the log.
 *
 *   test-sm-soak DAYS [SEED]     periods of a day; LOUD=1 shows the log. The test itself: periods
 *                                of an hour
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/lib/campaign-impl.h"
#include "util/log.h"
#include "util/mem.h"

#define MINUTE (60 * MONO_S)
#define HOUR   (60 * MINUTE)

/*
 * Addresses changed behind a manager's back are seen by a heavy sweep only; new GUIDs are new
 * knowledge.
 */
#define MIX "all,-addresses,-refusals,-replaced,-loops,-hitless,-keys"

/* Beyond what was in use at the end of the second period. */
#define MEMORY_SLACK (512u << 10)
#define FILES_MAX    40
#define BYTES_MAX    (1u << 20)
#define LINES_MAX    400 /* per fault */

/* AddressSanitizer's count; malloc's own is empty then. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t memory_in_use(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks;
}

static void count_files(const char *dir, unsigned *files, size_t *bytes)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[512];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] == '.' || stat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			count_files(path, files, bytes);
			continue;
		}
		(*files)++;
		*bytes += (size_t)st.st_size;
	}
	if (d)
		closedir(d);
}

static unsigned count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

struct footprint {
	size_t memory, bytes;
	unsigned files, fds, lines;
};

static struct footprint footprint_of(struct world *w)
{
	struct footprint ret = { .lines = w->log_lines };

	count_files(w->dir, &ret.files, &ret.bytes);
	ret.fds = count_descriptors();
	ret.memory = memory_in_use();
	w->log_lines = 0;
	return ret;
}

/* A fault a minute; once an hour all is mended, so that the subnet does not fall apart for good. */
static void live(struct world *w, struct dice *d, mono_t t)
{
	mono_t end = sim_now(w->sim) + t, mend_at = sim_now(w->sim) + HOUR;

	while (sim_now(w->sim) < end) {
		const struct life_fault f = world_draw_fault(d, w->kinds);

		world_fault(w, &f);
		world_run(w, MINUTE);
		if (sim_now(w->sim) < mend_at)
			continue;
		world_mend(w);
		mend_at = sim_now(w->sim) + HOUR;
	}
}

static bool too_much(const char *what, unsigned period, size_t is, size_t allowed)
{
	if (is <= allowed)
		return false;
	printf("# period %u: %zu %s, %zu are allowed\n", period, is, what, allowed);
	return true;
}

/* `second`: after the second period, when all tables have found their size. */
static bool has_grown(const struct footprint *now, const struct footprint *second, unsigned period,
		      unsigned faults)
{
	bool bad = too_much("bytes of memory", period, now->memory, second->memory + MEMORY_SLACK);

	bad |= too_much("descriptors", period, now->fds, second->fds);
	bad |= too_much("files", period, now->files, FILES_MAX);
	bad |= too_much("bytes in files", period, now->bytes, BYTES_MAX);
	return bad | too_much("lines in the log", period, now->lines, (size_t)faults * LINES_MAX);
}

static int soak(unsigned periods, mono_t length, uint64_t seed)
{
	struct life_plan plan = { .seed = seed, .kinds = life_mix(MIX) };
	struct world *w = xcalloc(1, sizeof(*w));
	struct footprint second = { 0 };
	struct life_result result = { .why = "" };
	struct dice d = { .s = seed };
	int bad = 0;

	w->result = &result;
	log_set_sink(world_take_log, w);
	world_open(w, &plan);
	w->loud = getenv("LOUD") != NULL;
	for (unsigned i = 1; i <= periods && !bad; i++) {
		struct footprint now;

		live(w, &d, length);
		world_mend(w);
		bad = !world_heal(w);
		now = footprint_of(w);
		printf("# period %u: %zu bytes in use, %u files of %zu bytes, %u descriptors, %u "
		       "lines%s%s\n",
		       i, now.memory, now.files, now.bytes, now.fds, now.lines, bad ? ": " : "",
		       result.why);
		fflush(stdout);
		if (i == 2)
			second = now;
		if (i >= 2)
			bad |= has_grown(&now, &second, i, (unsigned)(length / MINUTE));
	}
	world_close(w);
	log_set_sink(NULL, NULL);
	free(w);
	return bad;
}

static void hours_of_faults_leave_nothing_behind(void **state)
{
	assert_int_equal(soak(5, HOUR, 3), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		hours_of_faults_leave_nothing_behind) };

	if (argc > 1)
		return soak((unsigned)atoi(argv[1]), 24 * HOUR,
			    argc > 2 ? strtoull(argv[2], NULL, 0) : 3);
	return cmocka_run_group_tests_name("sm-soak", tests, NULL, NULL);
}
