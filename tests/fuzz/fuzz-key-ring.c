// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as the text of a ring of M_Key seeds, as a file or a manager brings it. Nothing
 * crashes; what is taken is written back as the same ring. The input is also put before a right
 * check line, so that the reader of seeds meets it.
 */
#include <stdlib.h>
#include <string.h>

#include "keys/key_ring.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void check_ring(const struct key_ring *r)
{
	struct key_ring *back = NULL;
	uint64_t former[KEY_RING_FORMER];
	size_t len;
	char *text = key_ring_text(r, &len);

	if (key_ring_read(text, len, &back) < 0 || key_ring_mark(back) != key_ring_mark(r) ||
	    key_ring_former(r, 1, former, KEY_RING_FORMER) > KEY_RING_FORMER || !key_ring_epoch(r))
		abort();
	key_ring_unref(back);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_free_ char *sealed = NULL, *word = xcalloc(1, len + 1);
	struct key_ring *r = NULL;
	struct key_seed seed;
	size_t sealed_len;

	memcpy(word, input, len);
	key_seed_parse(word, &seed);
	if (key_ring_read((const char *)input, len, &r) == 0)
		check_ring(r);
	key_ring_unref(r);
	r = NULL;
	sealed = key_ring_sealed((const char *)input, len, &sealed_len);
	if (key_ring_read(sealed, sealed_len, &r) == 0)
		check_ring(r);
	key_ring_unref(r);
	return 0;
}
