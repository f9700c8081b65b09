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
	unsigned line;	  /* line of the first keyword of this seed */
	guid_t from;	  /* GUID of the switch; 0: no link was given */
	guid_t to[3][2];  /* neighbours by x y z, plus and minus; 0: not given */
	int dateline[3];  /* distance of coordinate 0 from this switch, in steps */
};

struct torus_conf {
	unsigned size[3]; /* 1: the torus has no such dimension */
	bool wraps[3];	  /* set if the dimension is a ring; never for sizes below 3 */
	struct torus_seed *seeds;
	size_t n_seeds;
	unsigned portgroup_max_ports; /* 16 by default; without effect */
	unsigned max_changes;	      /* 32 by default; without effect */
	/* port numbers, each once; those not listed follow in ascending order */
	uint8_t n_order, order[255];
};

/*
 * Returns 0, or -EINVAL with findings, or an error of lines_split(); after an error `ret` is NULL.
 * `path` is the name in findings. The caller frees.
 */
int torus_conf_read_text(const char *path, const char *text, size_t len, struct torus_conf **ret,
			 struct conf_report *r);
struct torus_conf *torus_conf_free(struct torus_conf *t);
FREEP(torus_conf_free, struct torus_conf)
