// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a subnet manager, ours or another: counts the MADs it sends, by class, method and
 * attribute, in the file $UMADCOUNT_FILE. The same ruler for everybody.
 *
 *   0x81 0x02 0x0015 000000002646
 *   class method attribute count
 *
 * The file is mapped, not written: it is right at any moment, and after kill -9. A count is kept as
 * decimal digits and incremented in place, so that any reader can take it as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROWS_MAX 256
#define ROW_LEN 30 /* with the newline */

typedef int (*send_fn)(int port, int agent, void *umad, int length, int timeout_ms, int retries);

struct row {
	uint8_t mgmt_class, method;
	uint16_t attr;
};

/* Several threads of a client may send. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static send_fn real_send;
static struct row rows[ROWS_MAX];
static size_t n_rows;
static int file = -1;
static char *text;

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("UMADCOUNT_FILE");
	void *map;

	real_send = (send_fn)dlsym(RTLD_NEXT, "umad_send");
	if (!path)
		return;
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file < 0)
		return;
	map = mmap(NULL, ROWS_MAX * ROW_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	text = map == MAP_FAILED ? NULL : map;
}

/* The line of a kind of MAD, made when it is new; NULL when there are too many kinds. */
static char *line_of(struct row want)
{
	char fresh[ROW_LEN + 1];
	size_t i;

	for (i = 0; i < n_rows; i++)
		if (rows[i].attr == want.attr && rows[i].method == want.method &&
		    rows[i].mgmt_class == want.mgmt_class)
			return text + i * ROW_LEN;
	if (n_rows == ROWS_MAX || ftruncate(file, (off_t)((n_rows + 1) * ROW_LEN)) < 0)
		return NULL;
	rows[n_rows++] = want;
	snprintf(fresh, sizeof(fresh), "0x%02x 0x%02x 0x%04x %012d\n", want.mgmt_class, want.method,
		 want.attr, 0);
	return memcpy(text + i * ROW_LEN, fresh, ROW_LEN);
}

static void count(void *umad)
{
	const struct umad_hdr *hdr = umad_get_mad(umad);
	struct row row = { hdr->mgmt_class, hdr->method, be16toh(hdr->attr_id) };
	char *line, *digit;

	pthread_mutex_lock(&lock);
	line = line_of(row);
	if (line) {
		for (digit = line + ROW_LEN - 2; *digit == '9'; digit--)
			*digit = '0';
		++*digit;
	}
	pthread_mutex_unlock(&lock);
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	if (text)
		count(umad);
	return real_send(port, agent, umad, length, timeout_ms, retries);
}
