// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as guid2lid, guid2mkey or neighbors: the first byte says which, the rest is the
 * file. Nothing crashes, findings are printable, LIDs are disjoint, and what is written back reads
 * without a finding and is the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/store.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static char folder[SCRATCH_PATH]; /* one for all inputs */

static void remove_file(const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, name);

	unlink(path);
}

static void remove_files(enum store_file which)
{
	_cleanup_free_ char *bad = xasprintf("%s.bad", store_file_name(which));

	remove_file(bad);
	remove_file(store_file_name(which));
}

static void make_folder(void)
{
	if (!folder[0])
		scratch_folder(folder);
}

static void put(enum store_file which, const uint8_t *bytes, size_t len)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, store_file_name(which));
	FILE *out = fopen(path, "w");

	if (!out || fwrite(bytes, 1, len, out) != len || fclose(out) != 0)
		abort();
}

static void check_findings(struct store_findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		for (const char *p = f->text[i]; *p; p++)
			if (*p < ' ' || *p > '~')
				abort();
	store_findings_clear(f);
}

static void check_lids(const struct store *s)
{
	_cleanup_free_ uint8_t *used = xcalloc(0x10000, 1);
	lid_t min, max;
	size_t pos = 0;
	guid_t guid;

	while (store_next_lids(s, &pos, &guid, &min, &max)) {
		if (guid == 0 || min == 0 || min > max || max > LID_MAX_UCAST)
			abort();
		for (unsigned lid = min; lid <= max; lid++)
			if (used[lid]++)
				abort();
	}
}

static void save(struct store *s)
{
	struct store_image *image = store_image_new(s);

	if (image && store_image_write(image) < 0)
		abort();
	store_image_free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	enum store_file which = len ? input[0] % STORE_FILES : STORE_LIDS;
	struct store_findings findings = { 0 };
	struct store *s;
	size_t count;

	make_folder();
	s = store_new(folder, false);
	put(which, input + (len > 0), len - (len > 0));
	if (store_read(s, which, &findings) < 0)
		abort();
	check_findings(&findings);
	check_lids(s);
	count = store_count(s, which);
	save(s);
	if (store_read(s, which, &findings) < 0 || findings.n || store_count(s, which) != count)
		abort();
	remove_files(which);
	store_free(s);
	return 0;
}
