// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draws a key for trusted requests at random, whether or not options ask for one, as that may
 * change at run time. Draws an SM_Key too, if options ask for it at the start; this host keeps that
 * over restarts. A file that is damaged, or readable by others, is moved aside.
 */
#include "sm/base/drawn_key.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "sm/base/about.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define FILE_NAME "sm_key"
#define FILE_MAX  64

/* Is the key usable? Not if it has a meaning, is the default, or is in use elsewhere. */
static bool is_usable(const struct sm *sm, uint64_t key)
{
	return key > 1 && key != UINT64_MAX && key != sm->conf->sa_key && key != sm->conf->sm_key &&
	       key != sm->conf->m_key;
}

/* Draws random bytes. Up to 256 bytes are complete whatever signals come: getrandom(2). */
static bool draw_of_kernel(void *ret, size_t len)
{
	return getrandom(ret, len, 0) == (ssize_t)len;
}

bool sm_draw(const struct sm *sm, void *ret, size_t len)
{
	assert(len && len <= 256);
	if (!sm->hooks.draw)
		return draw_of_kernel(ret, len);
	sm->hooks.draw(sm->hooks.arg, ret, len);
	return true;
}

static bool draw_key(const struct sm *sm, uint64_t *ret)
{
	uint64_t key;

	do {
		if (!draw_of_kernel(&key, sizeof(key)))
			return false;
	} while (!is_usable(sm, key));
	*ret = key;
	return true;
}

/* ---- the disk -------------------------------------------------------------------------------- */

/* Reads a key. Returns the fault of the file in words, or NULL; *ret is 0 if there is no file. */
static const char *read_key(const struct sm *sm, const char *path, uint64_t *ret)
{
	_cleanup_free_ char *text = NULL;
	uint64_t key = 0;
	struct stat st;
	size_t len;
	int r;

	*ret = 0;
	if (stat(path, &st) == 0 && st.st_mode & (S_IRWXG | S_IRWXO))
		return "others than its owner may read it";
	r = file_read(path, FILE_MAX, &text, &len);
	if (r == -ENOENT)
		return NULL;
	if (r < 0)
		return strerror(-r);
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	r = str_to_u64(text, 0, UINT64_MAX, &key);
	explicit_bzero(text, len);
	if (r < 0 || !is_usable(sm, key))
		return "it does not hold a key";
	*ret = key;
	return NULL;
}

static int store_key(const char *dir, const char *path, uint64_t key)
{
	_cleanup_(file_replace_abortp) struct file_replace *f = NULL;
	int r = file_mkdirs(dir, 0755);

	if (r < 0)
		return r;
	f = file_replace_open(path, true);
	if (!f)
		return -errno;
	/* Unbuffered, as a buffer would keep a copy of the key. */
	setvbuf(file_replace_stream(f), NULL, _IONBF, 0);
	if (fprintf(file_replace_stream(f), "0x%016" PRIx64 "\n", key) < 0)
		return -EIO;
	return file_replace_commit(take(f), true);
}

static void tell_disk(const char *path, const char *why)
{
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path), LOGB_ERROR,
	       "%s: the drawn SM_Key cannot be used: %s; another one is drawn", path, why);
}

static void set_aside(const char *path)
{
	_cleanup_free_ char *aside = xasprintf("%s.bad", path);

	if (rename(path, aside) < 0)
		log_error("%s: cannot be set aside: %s", path, strerror(errno));
}

/* Draws an SM_Key; if it cannot be stored it is used, and the next start draws another. */
static void draw_sm_key(struct sm *sm, const char *dir)
{
	_cleanup_free_ char *path = dir ? xasprintf("%s/" FILE_NAME, dir) : NULL;
	const char *wrong = path ? read_key(sm, path, &sm->drawn_sm_key) : NULL;
	int r = 0;

	if (wrong) {
		tell_disk(path, wrong);
		set_aside(path);
	}
	if (sm->drawn_sm_key || !draw_key(sm, &sm->drawn_sm_key))
		return;
	if (path)
		r = store_key(dir, path, sm->drawn_sm_key);
	if (r < 0)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = path, .error = -r), LOGB_ERROR,
		       "%s: the drawn SM_Key cannot be stored: %s; the next start draws another "
		       "one",
		       path, strerror(-r));
}

/* ---- keys in force --------------------------------------------------------------------------- */

void drawn_key_new(struct sm *sm, const struct sm_paths *paths)
{
	if (draw_key(sm, &sm->drawn_key))
		sa_set_drawn_key(sm->sa, sm->drawn_key);
	else /* no request is a trusted one then */
		log_error("no random numbers are there: a key for trusted requests cannot be "
			  "drawn");
	if (sm->conf->randomize_sm_key)
		draw_sm_key(sm, paths ? paths->cache_dir : NULL);
}

void drawn_key_free(struct sm *sm)
{
	explicit_bzero(&sm->drawn_key, sizeof(sm->drawn_key));
	explicit_bzero(&sm->drawn_sm_key, sizeof(sm->drawn_sm_key));
}

uint64_t sm_sm_key(const struct sm *sm)
{
	return sm->drawn_sm_key ? sm->drawn_sm_key : sm->conf->sm_key;
}

uint64_t sm_sa_key(const struct sm *sm)
{
	return conf_draws_sa_key(sm->conf) ? sm->drawn_key : sm->conf->sa_key;
}
