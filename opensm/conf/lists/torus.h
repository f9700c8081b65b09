// SPDX-License-Identifier: BSD-2-Clause
/*
 * torus-2QoS.conf: the shape of a torus and where it begins (qos.md 10).
 *
 * Words separated by blanks; what follows the words of a keyword is ignored, and so are lines whose
 * first word begins with '#'. One faulty line and nothing of the file is used; all faults are told.
 */
#pragma once

#include "conf/conf.h"
#include "util/mem.h"
#include "util/types.h"

#define TORUS_SIZE_MAX 49151 /* more switches than LIDs */

/* A switch and its neighbours, from which coordinates are counted. */
struct torus_seed {
	unsigned line;	  /* of the first keyword */
	guid_t from;	  /* 0: no link was given */
	guid_t to[3][2];  /* x y z, plus and minus; 0: not given */
	int dateline[3];  /* the switch at coordinate 0 is so many steps from this one */
};

struct torus_conf {
	unsigned size[3]; /* 1: there is no such dimension */
	bool wraps[3];	  /* never for sizes below 3 */
	struct torus_seed *seeds;
	size_t n_seeds;
	unsigned portgroup_max_ports; /* 16; accepted, nothing depends on it */
	unsigned max_changes;	      /* 32; likewise */
	/* of ports; each once, those that are missing follow ascending */
	uint8_t n_order, order[255];
};

/*
 * 0, or -EINVAL with findings (and whatever lines_split() returns); then `ret` is NULL. `path` is
 * the name for findings. The caller frees.
 */
int torus_conf_read_text(const char *path, const char *text, size_t len, struct torus_conf **ret,
			 struct conf_report *r);
struct torus_conf *torus_conf_free(struct torus_conf *t);
FREEP(torus_conf_free, struct torus_conf)
