// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a subnet manager, ours or another: counts the MADs it sends, by class, method and
 * attribute, in the file $UMADCOUNT_FILE. The same ruler for all managers.
 *
 *   0x81 0x02 0x0015 000000002646 000000000012
 *   class method attribute sent, of these sent again
 *
 * "Sent again" is a MAD whose bytes, but for the TransactionID, were sent before and not answered
 * since: how many there are depends on how busy the machine is.
 *
 * With $UMADLOG_FILE also what it sends and is asked, in order, a line each:
 *
 *   0000012345678901 > 0x81 0x02 0x0015 0x00000001 1.5.3 00000000...
 *   0000012345679012 < 0x01 0x05 0x0002 0x00000000 LID7 ...
 *
 * CLOCK_MONOTONIC in microseconds; sent or received (answers are left out); class, method,
 * attribute, modifier; the other end: ports of the directed route ("-": the own node) or a LID; the
 * 64 bytes of data, of what is not a Get.
 *
 * The files are mapped, not written: they are right at any moment, and after kill -9. A count is
 * kept as decimal digits and incremented in place, so that any reader can take it as it is; the log
 * ends at its first zero byte.
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
#include <time.h>
#include <unistd.h>

#define ROWS_MAX     256
#define ROW_LEN	     43 /* with the newline */
#define N_WAITING    65536u /* MADs sent and not answered yet that are told apart */
#define LOG_MAX	     (1u << 30)
#define LOG_STEP     (1u << 20) /* the file grows by this */
#define LINE_MAX_LEN 512

#define MAD_HOPS 7 /* offsets in a MAD, figures 13 and 16 of the specification */
#define MAD_TID	 8
#define MAD_ATTR 16
#define MAD_LEN	 256
#define MAD_DATA 64
#define MAD_PATH 128
#define DATA_LEN 64

typedef int (*send_fn)(int port, int agent, void *umad, int length, int timeout_ms, int retries);
typedef int (*recv_fn)(int port, void *umad, int *length, int timeout_ms);

struct row {
	uint8_t mgmt_class, method;
	uint16_t attr;
};

/* Several threads of a client may send. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static send_fn real_send;
static recv_fn real_recv;
static struct row rows[ROWS_MAX];
static size_t n_rows;
/* What waits for its answer: hashes of MADs, and which of them has which TransactionID. */
static uint64_t waiting[N_WAITING], by_tid[N_WAITING];
static int file = -1;
static char *text;
static int log_file = -1;
static char *log_text;
static size_t log_end, log_room;

static void *map_file(const char *path, size_t length, int *ret_file)
{
	void *map;

	*ret_file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (*ret_file < 0)
		return NULL;
	map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_file, 0);
	return map == MAP_FAILED ? NULL : map;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("UMADCOUNT_FILE");
	const char *log_path = getenv("UMADLOG_FILE");

	real_send = (send_fn)dlsym(RTLD_NEXT, "umad_send");
	real_recv = (recv_fn)dlsym(RTLD_NEXT, "umad_recv");
	if (path)
		text = map_file(path, ROWS_MAX * ROW_LEN, &file);
	if (log_path)
		log_text = map_file(log_path, LOG_MAX, &log_file);
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
	snprintf(fresh, sizeof(fresh), "0x%02x 0x%02x 0x%04x %012d %012d\n", want.mgmt_class,
		 want.method, want.attr, 0, 0);
	return memcpy(text + i * ROW_LEN, fresh, ROW_LEN);
}

/* FNV-1a. */
static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t hash_of(void *umad)
{
	const uint8_t *mad = umad_get_mad(umad);
	const uint16_t lid = umad_get_mad_addr(umad)->lid;
	uint64_t hash = add_to_hash(0xcbf29ce484222325u, mad, MAD_TID);

	hash = add_to_hash(hash, mad + MAD_ATTR, MAD_LEN - MAD_ATTR);
	return add_to_hash(hash, &lid, sizeof(lid));
}

static uint64_t *tid_slot(void *umad)
{
	const struct umad_hdr *hdr = umad_get_mad(umad);

	return &by_tid[(be64toh(hdr->tid) & 0xffffffff) % N_WAITING];
}

static void increment(char *last_digit)
{
	for (; *last_digit == '9'; last_digit--)
		*last_digit = '0';
	++*last_digit;
}

static void count(void *umad)
{
	const struct umad_hdr *hdr = umad_get_mad(umad);
	struct row row = { hdr->mgmt_class, hdr->method, be16toh(hdr->attr_id) };
	const uint64_t hash = hash_of(umad);
	char *line;

	pthread_mutex_lock(&lock);
	line = line_of(row);
	if (line) {
		increment(line + ROW_LEN - 15);
		if (waiting[hash % N_WAITING] == hash)
			increment(line + ROW_LEN - 2);
	}
	waiting[hash % N_WAITING] = *tid_slot(umad) = hash;
	pthread_mutex_unlock(&lock);
}

static void note_answer(void *umad)
{
	uint64_t *hash = tid_slot(umad);

	pthread_mutex_lock(&lock);
	if (waiting[*hash % N_WAITING] == *hash)
		waiting[*hash % N_WAITING] = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- the log: written by hand, since printf would cost more than sending ---- */

static char *put_hex(char *at, uint64_t value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value >>= 4)
		at[i] = "0123456789abcdef"[value & 15];
	return at + digits;
}

static char *put_decimal(char *at, uint64_t value, int digits)
{
	for (int i = digits - 1; i >= 0; i--, value /= 10)
		at[i] = (char)('0' + value % 10);
	return at + digits;
}

static char *put_number(char *at, unsigned value)
{
	int digits = 1;

	for (unsigned rest = value; rest >= 10; rest /= 10)
		digits++;
	return put_decimal(at, value, digits);
}

static char *put_hex_field(char *at, uint64_t value, int digits)
{
	memcpy(at, " 0x", 3);
	return put_hex(at + 3, value, digits);
}

static char *put_target(char *at, void *umad, const uint8_t *mad)
{
	*at++ = ' ';
	if (((const struct umad_hdr *)mad)->mgmt_class != 0x81) {
		memcpy(at, "LID", 3);
		return put_number(at + 3, be16toh(umad_get_mad_addr(umad)->lid));
	}
	if (!mad[MAD_HOPS])
		*at++ = '-';
	for (unsigned hop = 1; hop <= mad[MAD_HOPS] && hop < 64; hop++) {
		if (hop > 1)
			*at++ = '.';
		at = put_number(at, mad[MAD_PATH + hop]);
	}
	return at;
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static char *put_line(char *at, char direction, void *umad)
{
	const uint8_t *mad = umad_get_mad(umad);
	const struct umad_hdr *hdr = umad_get_mad(umad);

	at = put_decimal(at, now_us(), 16);
	*at++ = ' ';
	*at++ = direction;
	at = put_hex_field(at, hdr->mgmt_class, 2);
	at = put_hex_field(at, hdr->method, 2);
	at = put_hex_field(at, be16toh(hdr->attr_id), 4);
	at = put_hex_field(at, be32toh(hdr->attr_mod), 8);
	at = put_target(at, umad, mad);
	if (hdr->method != 0x01) {
		*at++ = ' ';
		for (unsigned i = 0; i < DATA_LEN; i++)
			at = put_hex(at, mad[MAD_DATA + i], 2);
	}
	*at++ = '\n';
	return at;
}

static void write_log(char direction, void *umad)
{
	pthread_mutex_lock(&lock);
	if (log_end + LINE_MAX_LEN > log_room && log_room < LOG_MAX &&
	    !ftruncate(log_file, (off_t)(log_room + LOG_STEP)))
		log_room += LOG_STEP;
	if (log_end + LINE_MAX_LEN <= log_room)
		log_end = (size_t)(put_line(log_text + log_end, direction, umad) - log_text);
	pthread_mutex_unlock(&lock);
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	if (text)
		count(umad);
	if (log_text)
		write_log('>', umad);
	return real_send(port, agent, umad, length, timeout_ms, retries);
}

int umad_recv(int port, void *umad, int *length, int timeout_ms)
{
	int r = real_recv(port, umad, length, timeout_ms);

	if (r < 0 || umad_status(umad))
		return r;
	if (((const struct umad_hdr *)umad_get_mad(umad))->method & 0x80)
		note_answer(umad);
	else if (log_text)
		write_log('<', umad);
	return r;
}
