// SPDX-License-Identifier: BSD-2-Clause
#include "keys/key_ring.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <nettle/hmac.h>
#include <stdio.h>
#include <string.h>

#define LABEL	    "opensm"
#define FORMER_EACH 15 /* epochs before the last of a seed whose keys are tried */
#define AFTER_BACK  256 /* epochs before the last of a seed that a stored key may be of */
#define HEAD	    "opensm M_Key ring 1\n"
#define SHARED	    0

struct epoch_seed {
	struct key_seed seed;
	/* The last one that was in use, 1 and up; SHARED: the seed is one key for all ports. */
	uint32_t epoch;
};

struct key_ring {
	unsigned refs;
	unsigned n;
	struct epoch_seed seeds[KEY_RING_SEEDS]; /* the first is in use */
	uint64_t mark;				 /* 0: not made since the last change */
};

/* ---- seeds ----------------------------------------------------------------------------------- */

static void put_be(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

void key_seed_of_number(uint64_t m_key, struct key_seed *ret)
{
	*ret = (struct key_seed){ 0 };
	put_be(ret->bytes, m_key, 8);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool key_seed_parse(const char *text, struct key_seed *ret)
{
	struct key_seed seed;

	text += strspn(text, " \t\r\n");
	for (unsigned i = 0; i < KEY_SEED_BYTES; i++) {
		int high = digit_of(*text), low = high < 0 ? -1 : digit_of(text[1]);

		if (low < 0)
			return false;
		seed.bytes[i] = (uint8_t)(high << 4 | low);
		text += 2;
	}
	if (text[strspn(text, " \t\r\n")])
		return false;
	*ret = seed;
	return true;
}

uint64_t key_digest(const struct key_seed *seed, const void *bytes, size_t len)
{
	struct hmac_sha256_ctx ctx;
	uint8_t out[8];
	uint64_t v = 0;

	hmac_sha256_set_key(&ctx, KEY_SEED_BYTES, seed->bytes);
	hmac_sha256_update(&ctx, len, bytes);
	hmac_sha256_digest(&ctx, sizeof(out), out);
	explicit_bzero(&ctx, sizeof(ctx));
	for (unsigned i = 0; i < sizeof(out); i++)
		v = v << 8 | out[i];
	return v;
}

/* ---- rings ----------------------------------------------------------------------------------- */

struct key_ring *key_ring_new(void)
{
	struct key_ring *r = xcalloc(1, sizeof(*r));

	r->refs = 1;
	return r;
}

struct key_ring *key_ring_copy(const struct key_ring *r)
{
	struct key_ring *copy = xmemdup(r, sizeof(*r));

	copy->refs = 1;
	return copy;
}

struct key_ring *key_ring_ref(const struct key_ring *shared)
{
	struct key_ring *r = as_owner(shared);

	if (r)
		r->refs++;
	return r;
}

struct key_ring *key_ring_unref(const struct key_ring *shared)
{
	struct key_ring *r = as_owner(shared);

	if (!r || --r->refs)
		return NULL;
	explicit_bzero(r, sizeof(*r));
	free(r);
	return NULL;
}

bool key_ring_is_empty(const struct key_ring *r)
{
	return !r->n;
}

static bool is_shared(const struct epoch_seed *s)
{
	return s->epoch == SHARED;
}

bool key_ring_is_shared(const struct key_ring *r)
{
	return r->n && is_shared(&r->seeds[0]);
}

static bool is_same(const struct epoch_seed *a, const struct epoch_seed *b)
{
	return is_shared(a) == is_shared(b) &&
	       !memcmp(a->seed.bytes, b->seed.bytes, KEY_SEED_BYTES);
}

static struct epoch_seed *find(struct key_ring *r, const struct epoch_seed *s)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (is_same(&r->seeds[i], s))
			return &r->seeds[i];
	}
	return NULL;
}

static bool put_first(struct key_ring *r, struct epoch_seed first)
{
	const struct epoch_seed *have = find(r, &first);
	unsigned at = have ? (unsigned)(have - r->seeds) : MIN(r->n, KEY_RING_SEEDS - 1u);

	assert(r->refs == 1);
	if (have)
		first.epoch = have->epoch;
	if (have == &r->seeds[0])
		return false;
	r->mark = 0;
	memmove(&r->seeds[1], &r->seeds[0], at * sizeof(r->seeds[0]));
	r->seeds[0] = first;
	if (!have)
		r->n = at + 1;
	return true;
}

bool key_ring_use(struct key_ring *r, const struct key_seed *seed)
{
	return put_first(r, (struct epoch_seed){ .seed = *seed, .epoch = 1 });
}

bool key_ring_use_shared(struct key_ring *r, uint64_t m_key)
{
	struct epoch_seed s = { .epoch = SHARED };

	assert(m_key);
	key_seed_of_number(m_key, &s.seed);
	return put_first(r, s);
}

bool key_ring_turn(struct key_ring *r)
{
	assert(r->refs == 1);
	if (!r->n || is_shared(&r->seeds[0]) || r->seeds[0].epoch == UINT32_MAX)
		return false;
	r->seeds[0].epoch++;
	r->mark = 0;
	return true;
}

uint32_t key_ring_epoch(const struct key_ring *r)
{
	return r->n ? r->seeds[0].epoch : 0;
}

bool key_ring_merge(struct key_ring *r, const struct key_ring *other)
{
	bool changed = false;

	assert(r->refs == 1);
	r->mark = 0;
	for (unsigned i = 0; i < other->n; i++) {
		const struct epoch_seed *theirs = &other->seeds[i];
		struct epoch_seed *own = find(r, theirs);

		if (!own && r->n == KEY_RING_SEEDS)
			continue;
		changed |= !own || own->epoch < theirs->epoch;
		if (!own)
			r->seeds[r->n++] = *theirs;
		else
			own->epoch = MAX(own->epoch, theirs->epoch);
	}
	return changed;
}

bool key_ring_keep(struct key_ring *r, const struct key_ring *other)
{
	bool changed = false;

	assert(r->refs == 1);
	for (unsigned i = 0; i < other->n; i++) {
		if (find(r, &other->seeds[i]))
			continue;
		r->seeds[MIN(r->n, KEY_RING_SEEDS - 1u)] = other->seeds[i];
		r->n = MIN(r->n + 1, KEY_RING_SEEDS + 0u);
		r->mark = 0;
		changed = true;
	}
	return changed;
}

static uint64_t number_of(const struct key_seed *seed)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < sizeof(v); i++)
		v = v << 8 | seed->bytes[i];
	return v;
}

/* A shared key is the number that fills the first 8 bytes. */
static bool is_number(const struct key_seed *seed)
{
	struct key_seed same;

	key_seed_of_number(number_of(seed), &same);
	return number_of(seed) && !memcmp(same.bytes, seed->bytes, KEY_SEED_BYTES);
}

bool key_ring_is_alike(const struct key_ring *a, const struct key_ring *b)
{
	if (!a->n || !b->n)
		return a->n == b->n;
	return is_same(&a->seeds[0], &b->seeds[0]) && a->seeds[0].epoch == b->seeds[0].epoch;
}

bool key_ring_at(const struct key_ring *r, unsigned nth, uint8_t ret[KEY_SEED_SENT])
{
	const struct epoch_seed *s = nth < r->n ? &r->seeds[nth] : NULL;

	if (!s)
		return false;
	memcpy(ret, s->seed.bytes, KEY_SEED_BYTES);
	put_be(ret + KEY_SEED_BYTES, s->epoch, KEY_SEED_SENT - KEY_SEED_BYTES);
	return true;
}

bool key_ring_take(struct key_ring *r, const uint8_t sent[KEY_SEED_SENT])
{
	struct key_ring other = { .n = 1 };
	bool changed;

	memcpy(other.seeds[0].seed.bytes, sent, KEY_SEED_BYTES);
	for (unsigned i = KEY_SEED_BYTES; i < KEY_SEED_SENT; i++)
		other.seeds[0].epoch = other.seeds[0].epoch << 8 | sent[i];
	changed = (!is_shared(&other.seeds[0]) || is_number(&other.seeds[0].seed)) &&
		  key_ring_merge(r, &other);
	explicit_bzero(&other, sizeof(other));
	return changed;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* 0 would be no key, and all ones asks for a random seed. */
static uint64_t key_of_class(const struct key_seed *seed, uint8_t mad_class, guid_t guid,
			     uint32_t epoch)
{
	uint8_t text[sizeof(LABEL) - 1 + 1 + 8 + 4 + 1];
	size_t len = sizeof(LABEL) - 1;
	uint64_t key = 0;

	memcpy(text, LABEL, len);
	text[len] = mad_class;
	put_be(text + len + 1, guid, 8);
	put_be(text + len + 9, epoch, 4);
	text[len + 13] = 0;
	/* Two in 2^64 keys are no keys: three tries in a row never are. */
	for (unsigned i = 0; i < 3 && (!key || key == UINT64_MAX); i++) {
		text[len + 13] = (uint8_t)i;
		key = key_digest(seed, text, sizeof(text));
	}
	return key;
}

static uint64_t key_of(const struct epoch_seed *s, guid_t guid, uint32_t epoch)
{
	return is_shared(s) ? number_of(&s->seed)
			    : key_of_class(&s->seed, KEY_CLASS_SMP, guid, epoch);
}

/* How many epochs of it ports may have keys of, besides those that came to be later. */
static uint32_t epochs_of(const struct epoch_seed *s)
{
	return is_shared(s) ? 1 : MIN(s->epoch, FORMER_EACH + 1u);
}

uint64_t key_ring_class_key(const struct key_ring *r, uint8_t mad_class, guid_t port_guid,
			    uint32_t back)
{
	assert(r->n);
	return back < r->seeds[0].epoch ? key_of_class(&r->seeds[0].seed, mad_class, port_guid,
						       r->seeds[0].epoch - back)
					: 0;
}

uint64_t key_ring_key(const struct key_ring *r, guid_t port_guid)
{
	return key_ring_key_ahead(r, port_guid, 0);
}

uint64_t key_ring_key_ahead(const struct key_ring *r, guid_t port_guid, uint32_t ahead)
{
	assert(r->n);
	return key_of(&r->seeds[0], port_guid, r->seeds[0].epoch + ahead);
}

uint64_t key_ring_former_ahead(const struct key_ring *r, unsigned nth, guid_t port_guid,
			       uint32_t ahead)
{
	const struct epoch_seed *s = nth + 1 < r->n ? &r->seeds[nth + 1] : NULL;

	return s && !is_shared(s) && UINT32_MAX - s->epoch >= ahead
		       ? key_of(s, port_guid, s->epoch + ahead)
		       : 0;
}

unsigned key_ring_former(const struct key_ring *r, guid_t port_guid, uint64_t ret[KEY_RING_FORMER],
			 unsigned max)
{
	unsigned n = 0;

	/* A manager may have ended in the midst of a rotation. */
	assert(max <= KEY_RING_FORMER);
	if (r->n && max && r->seeds[0].epoch > 1)
		ret[n++] = key_of(&r->seeds[0], port_guid, r->seeds[0].epoch - 1);
	/* The epoch before of each seed before older ones of any. */
	for (uint32_t back = 0; back <= FORMER_EACH; back++) {
		for (unsigned i = 0; i < r->n && n < max; i++) {
			const struct epoch_seed *s = &r->seeds[i];

			if ((i || back > 1) && back < epochs_of(s))
				ret[n++] = key_of(s, port_guid, s->epoch - back);
		}
	}
	return n;
}

uint64_t key_ring_after(const struct key_ring *r, guid_t port_guid, uint64_t key)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct epoch_seed *s = &r->seeds[i];
		uint32_t n = is_shared(s) ? 0 : MIN(s->epoch, AFTER_BACK + 1u);

		for (uint32_t back = 1; back < n; back++) {
			if (key_of(s, port_guid, s->epoch - back) == key)
				return key_of(s, port_guid, s->epoch - back + 1);
		}
	}
	return 0;
}

bool key_ring_find(struct key_ring *r, guid_t port_guid, uint64_t key, uint32_t ahead)
{
	assert(r->refs == 1);
	for (unsigned i = 0; i < r->n; i++) {
		struct epoch_seed *s = &r->seeds[i];
		uint32_t last = UINT32_MAX - s->epoch < ahead ? UINT32_MAX : s->epoch + ahead;

		for (uint32_t epoch = s->epoch; !is_shared(s) && epoch < last;) {
			if (key_of(s, port_guid, ++epoch) != key)
				continue;
			s->epoch = epoch;
			r->mark = 0;
			return true;
		}
	}
	return false;
}

bool key_ring_use_of(struct key_ring *r, guid_t port_guid, uint64_t key)
{
	for (unsigned i = 1; i < r->n; i++) {
		const struct epoch_seed *s = &r->seeds[i];

		if (!is_shared(s) && key_of(s, port_guid, s->epoch) == key)
			return put_first(r, *s);
	}
	return false;
}

uint64_t key_ring_mark(const struct key_ring *shared)
{
	static const struct key_seed mark = { "mark of a ring of keys" };
	struct key_ring *r = as_owner(shared);

	if (r->n && !r->mark)
		r->mark = key_digest(&mark, r->seeds, r->n * sizeof(r->seeds[0]));
	return r->mark;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The line that tells whether lines before it are whole. */
static void check_line(const char *text, size_t len, char ret[32])
{
	static const struct key_seed mark = { "mark of the text of a ring" };

	snprintf(ret, 32, "check %016" PRIx64 "\n", key_digest(&mark, text, len));
}

char *key_ring_text(const struct key_ring *r, size_t *ret_len)
{
	char *text = xcalloc(1, KEY_RING_TEXT), check[32];
	size_t len = (size_t)snprintf(text, KEY_RING_TEXT, HEAD);

	for (unsigned i = 0; i < r->n; i++) {
		for (unsigned b = 0; b < KEY_SEED_BYTES; b++)
			len += (size_t)snprintf(text + len, KEY_RING_TEXT - len, "%02x",
						r->seeds[i].seed.bytes[b]);
		len += (size_t)snprintf(text + len, KEY_RING_TEXT - len, " %" PRIu32 "\n",
					r->seeds[i].epoch);
	}
	check_line(text, len, check);
	*ret_len = len + (size_t)snprintf(text + len, KEY_RING_TEXT - len, "%s", check);
	return text;
}

char *key_ring_sealed(const char *lines, size_t len, size_t *ret_len)
{
	const size_t head = strlen(HEAD);
	char *text = xcalloc(1, head + len + 32), check[32];

	memcpy(text, HEAD, head);
	if (len)
		memcpy(text + head, lines, len);
	check_line(text, head + len, check);
	memcpy(text + head + len, check, strlen(check));
	*ret_len = head + len + strlen(check);
	return text;
}

/* "SEED EPOCH", whole; EPOCH 0 of a shared key. */
static bool read_seed(const char *line, struct epoch_seed *ret)
{
	char digits[2 * KEY_SEED_BYTES + 1];
	char *end = NULL;
	unsigned long long epoch;
	bool good;

	if (strnlen(line, sizeof(digits)) < sizeof(digits) || line[sizeof(digits) - 1] != ' ')
		return false;
	memcpy(digits, line, sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	line += sizeof(digits);
	if (*line < '0' || *line > '9' || (*line == '0' && line[1]))
		return false;
	errno = 0;
	epoch = strtoull(line, &end, 10);
	good = !errno && !*end && epoch <= UINT32_MAX && key_seed_parse(digits, &ret->seed);
	explicit_bzero(digits, sizeof(digits));
	ret->epoch = (uint32_t)epoch;
	return good && (!is_shared(ret) || is_number(&ret->seed));
}

/* `text` is changed. False: there is more in it than seeds, or none. */
static bool read_seeds(char *text, struct key_ring *r)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct epoch_seed s;

		if (r->n == KEY_RING_SEEDS || !read_seed(line, &s) || find(r, &s))
			return false;
		r->seeds[r->n++] = s;
	}
	return r->n > 0;
}

int key_ring_read(const char *text, size_t len, struct key_ring **ret)
{
	_cleanup_(key_ring_unrefp) struct key_ring *r = key_ring_new();
	const size_t head = strlen(HEAD), tail = strlen("check 0123456789abcdef\n");
	char own[KEY_RING_TEXT], check[32];
	bool good;

	if (len >= sizeof(own) || len < head + tail || memchr(text, '\0', len) ||
	    memcmp(text, HEAD, head) != 0)
		return -EBADMSG;
	check_line(text, len - tail, check);
	if (memcmp(text + len - tail, check, tail) != 0)
		return -EBADMSG;
	memcpy(own, text + head, len - head - tail);
	own[len - head - tail] = '\0';
	good = read_seeds(own, r);
	explicit_bzero(own, sizeof(own));
	if (!good)
		return -EBADMSG;
	*ret = take(r);
	return 0;
}
