// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs a fuzz target without a fuzzer: files named on the command line, or else its corpus
 * (tests/fuzz/corpus/NAME for fuzz-NAME) and seeded mutations of it. Speaks TAP.
 *
 * For real fuzzing leave this file out: clang -fsanitize=fuzzer,address,undefined (README.md). What
 * that finds becomes a file of the corpus. TEST_SEED and FUZZ_RUNS change the mutations.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/no-syslog.h"
#include "tests/lib/rounds.h"
#include "util/file.h"
#include "util/mem.h"

#define INPUT_MAX ((size_t)1 << 20)
#define MUTANT_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
/* Mutations of a target that takes its time; others have RUNS. */
extern const unsigned fuzz_runs __attribute__((weak));

#define RUNS 4000

struct input {
	char *name, *bytes;
	size_t len;
};

struct inputs {
	struct input *row;
	size_t n, cap;
};

static uint64_t dice;

static uint32_t roll(uint32_t n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return n ? (uint32_t)(dice >> 32) % n : 0;
}

static void add_input(struct inputs *all, const char *path)
{
	struct input in = { .name = xstrdup(path) };
	int r = file_read(path, INPUT_MAX, &in.bytes, &in.len);

	if (r < 0) {
		printf("Bail out! %s: %s\n", path, strerror(-r));
		exit(1);
	}
	GROW(all->row, all->n + 1, all->cap);
	all->row[all->n++] = in;
}

static int compare_inputs(const void *va, const void *vb)
{
	const struct input *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

static void add_corpus(struct inputs *all, const char *program)
{
	const char *top = getenv("abs_top_srcdir"), *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	_cleanup_free_ char *dir = xasprintf("%s/tests/fuzz/corpus/%s", top ? top : ".",
					     strncmp(name, "fuzz-", 5) == 0 ? name + 5 : name);
	DIR *d = opendir(dir);
	struct dirent *entry;

	if (!d) {
		printf("Bail out! no corpus in %s\n", dir);
		exit(1);
	}
	while ((entry = readdir(d))) {
		_cleanup_free_ char *path = xasprintf("%s/%s", dir, entry->d_name);

		if (entry->d_name[0] != '.')
			add_input(all, path);
	}
	closedir(d);
	qsort(all->row, all->n, sizeof(*all->row), compare_inputs);
}

/* One change: a bit, a byte, a cut, a piece of another input put in, a piece repeated. */
static size_t mutate(const struct inputs *all, uint8_t *bytes, size_t len)
{
	const struct input *other = &all->row[roll(all->n)];
	size_t at = roll(len + 1), n = roll(64);

	switch (roll(5)) {
	case 0:
		if (at < len)
			bytes[at] ^= 1u << roll(8);
		return len;
	case 1:
		if (at < len)
			bytes[at] = roll(256);
		return len;
	case 2:
		n = MIN(n, len - at);
		memmove(bytes + at, bytes + at + n, len - at - n);
		return len - n;
	case 3:
		n = MIN(MIN(n, other->len), MUTANT_MAX - len);
		memmove(bytes + at + n, bytes + at, len - at);
		memcpy(bytes + at, other->bytes + roll(other->len - n + 1), n);
		return len + n;
	default:
		n = MIN(MIN(n, len - at), MUTANT_MAX - len);
		memmove(bytes + at + n, bytes + at, len - at);
		return len + n;
	}
}

/* FUZZ_KEEP=FILE: the input that is run stands there, for when it is the last. */
static void keep(const uint8_t *bytes, size_t len)
{
	const char *path = getenv("FUZZ_KEEP");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fwrite(bytes, 1, len, out);
	fclose(out);
}

static void run_exactly(const uint8_t *bytes, size_t len)
{
	_cleanup_free_ uint8_t *copy = xmalloc(MAX(len, 1u)); /* so that ASan sees its end */

	memcpy(copy, bytes, len);
	keep(bytes, len);
	LLVMFuzzerTestOneInput(copy, len);
}

static void run_mutants(const struct inputs *all, unsigned runs)
{
	static uint8_t bytes[MUTANT_MAX];

	for (unsigned i = 0; i < runs; i++) {
		const struct input *in = &all->row[roll(all->n)];
		size_t len = MIN(in->len, MUTANT_MAX);

		memcpy(bytes, in->bytes, len);
		for (unsigned change = 1 + roll(8); change > 0; change--)
			len = mutate(all, bytes, len);
		run_exactly(bytes, len);
	}
}

int main(int argc, char **argv)
{
	const char *seed = getenv("TEST_SEED"), *runs = getenv("FUZZ_RUNS");
	struct inputs all = { 0 };

	for (int i = 1; i < argc; i++)
		add_input(&all, argv[i]);
	if (argc == 1)
		add_corpus(&all, argv[0]);
	if (all.n == 0) {
		printf("Bail out! the corpus is empty\n");
		return 1;
	}
	printf("1..%zu\n", all.n + (argc == 1));
	for (size_t i = 0; i < all.n; i++) {
		run_exactly((const uint8_t *)all.row[i].bytes, all.row[i].len);
		printf("ok %zu - %s\n", i + 1, all.row[i].name);
		fflush(stdout);
	}
	dice = seed ? strtoull(seed, NULL, 0) : 0x5EEDull;
	if (argc == 1) {
		printf("# TEST_SEED=0x%llx\n", (unsigned long long)dice);
		fflush(stdout);
		run_mutants(&all, runs ? (unsigned)strtoul(runs, NULL, 0)
				       : test_rounds(&fuzz_runs ? fuzz_runs : RUNS));
		printf("ok %zu - mutations\n", all.n + 1);
	}
	for (size_t i = 0; i < all.n; i++) {
		free(all.row[i].name);
		free(all.row[i].bytes);
	}
	free(all.row);
	return 0;
}
