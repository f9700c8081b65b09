// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration of a master, as its standby has received it: options that shape the fabric,
 * and files that options name.
 *
 * Each option and file has a source: the manager whose own file or command line set it, or which
 * has it at its default. A manager that gets back its own takes nothing of it: its own file is what
 * counts.
 *
 * Text, for the wire and for the file that keeps it:
 *
 *	opensm-copied 1 FROM
 *	option NAME SOURCE LENGTH\nVALUE\n
 *	file NAME SOURCE LENGTH\nCONTENT\n	NAME is the option that names the file
 *	nofile NAME SOURCE\n			there is none
 *	key NAME MARK\n				MARK: copied_mark_fn
 *	end HASH\n				hash_bytes() of all before this line
 */
#pragma once

#include "conf/conf.h"

#define COPIED_MAX (16u << 20)

struct copied_option {
	enum conf_id id;
	guid_t source;
	char *text; /* as conf_value_text() */
};

struct copied_file {
	enum conf_id id;
	guid_t source;
	bool exists;
	char *text; /* `len` bytes and a NUL; NULL: the file does not exist */
	size_t len;
};

struct copied_key {
	enum conf_id id;
	uint16_t mark;
};

struct copied {
	unsigned refs;
	guid_t from;   /* the master that sent it */
	int64_t at;    /* when it was stored, seconds since 1970; not in the text */
	uint64_t hash; /* hash of the text */
	struct copied_option *options;
	struct copied_file *files;
	struct copied_key *keys;
	size_t n_options, n_files, n_keys, cap_options, cap_files, cap_keys;
};

/* A new, empty one with one reference. */
struct copied *copied_new(guid_t from);
struct copied *copied_unref(struct copied *c); /* NULL is fine; returns NULL */
FREEP(copied_unref, struct copied)
void copied_add_option(struct copied *c, enum conf_id id, guid_t source, const char *text);
/* `text` NULL: the source has no such file. */
void copied_add_file(struct copied *c, enum conf_id id, guid_t source, const char *text,
		     size_t len);
void copied_add_key(struct copied *c, enum conf_id id, uint16_t mark);
const struct copied_option *copied_option(const struct copied *c, enum conf_id id);
const struct copied_file *copied_file(const struct copied *c, enum conf_id id);

/* Removes the options and files for which these return false. */
void copied_filter(struct copied *c, bool (*option)(enum conf_id id),
		   bool (*file)(enum conf_id id));

/* The text, to be freed; sets `*ret_len` to its length, and c->hash. */
char *copied_text(struct copied *c, size_t *ret_len);
/*
 * Returns 0, or -EINVAL if the text is damaged or of another kind; then *ret is not touched.
 * Options that this version does not know are left out.
 */
int copied_read(const char *text, size_t len, struct copied **ret);

/*
 * 16 bits that tell that two secret keys differ, and nothing of the keys to programs that the text
 * may reach (sm/base/key_mark.h). 0 is as good as any.
 */
typedef uint16_t copied_mark_fn(const struct conf *c, enum conf_id id);

/* ---- copied_layer.c ---- */

/* Local differences: an option set to another value here, or a file with other content. */
struct copied_pins {
	size_t n;
	enum conf_id ids[CONF_N_OPTIONS];
};

/*
 * A copy of `own`, one reference, in which options that `own` does not set have the values of `c`
 * and are marked as copied; files that do not exist here are named by their path in `folder`
 * (copied_file_name()). Sources equal to `self` are not taken. `pins` is overwritten. A value that
 * cannot be understood is left out, with a finding.
 */
struct conf *copied_layer(const struct conf *own, const struct copied *c, guid_t self,
			  const char *folder, struct copied_pins *pins, struct conf_report *r);
/* FOLDER/NAME.conf, to be freed. */
char *copied_file_name(const char *folder, enum conf_id id);
/* The path that an option names; NULL: none. */
const char *copied_path(const struct conf *c, enum conf_id id);

/* ---- copied_diff.c ---- */

/*
 * In what `conf` differs from `c`, a line each, to be freed ("": in nothing):
 *
 *	option NAME\tVALUE OF conf\tVALUE OF c
 *	file NAME\tNUMBER\tLINE OF conf\tLINE OF c
 *	key NAME
 *
 * NUMBER: the first line that differs; 0: one of the files is missing. Values, and lines of files,
 * are printable, and cut after 200 characters.
 */
char *copied_diff(const struct conf *conf, const struct copied *c, copied_mark_fn *mark);
