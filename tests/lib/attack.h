// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hostile host on a subnet of tenants: it has root, knows the M_Key of its own port, and
 * sends raw MADs of all kinds; beside it are hosts that go on asking for paths. For
 * test-attacks.c, which judges, and bench-attacks.c, which measures. tests/tools/attack-host.c
 * sends the same from a host of a served fabric: attack-mads.c knows no simulator.
 *
 * The manager is at h0 of a tree of 32 leaves with `hosts` each, in profile tenant, with all that
 * is right up and settled, and keys that were rotated once. Everything is drawn from a seed.
 */
#pragma once

#include "fabric/words.h"
#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"

#define ATTACK_HONEST 8u

struct attack_ear;

struct attack {
	struct rig *rig;
	struct sim *sim; /* of the rig */
	struct conf *conf;
	struct sm *sm;
	char dir[SCRATCH_PATH];
	uint64_t dice;
	struct attack_ear *ear; /* between the manager and its port */

	/* ---- what attack-mads.c needs ---- */
	struct transport *tr; /* of the hostile host */
	/* What its own port holds, as its driver tells it. */
	void (*read_own)(struct attack *a, uint16_t attr, uint32_t mod, uint8_t *ret);
	/* An answer that nothing has asked for, as the manager's host lets it through. */
	void (*inject)(struct attack *a, const uint8_t *mad, lid_t from);
	guid_t partner; /* of the victim */
	int node, leaf, sm_node;
	unsigned leaf_port;
	guid_t guid, victim; /* its own, and that of a host of another tenant */
	lid_t lid, sm_lid, max_lid;
	uint64_t old_key; /* M_Key of its port before the rotation */
	struct dr_path to_sm;
	char place[PLACE_STRLEN]; /* as the log names it */
	uint64_t n_sent;

	struct client *honest[ATTACK_HONEST];
	unsigned next_honest;
	uint64_t asked, answered, wrong; /* questions of the honest hosts */

	uint64_t *before; /* of each node, by attack_look() */
};

/* Never NULL; the manager is MASTER. */
struct attack *attack_new(unsigned hosts, uint64_t seed);
struct attack *attack_free(struct attack *a);

void attack_run(struct attack *a, mono_t t);
uint32_t attack_roll(struct attack *a, uint32_t below);

/* A row of the attack table, or a part of one. */
struct attack_class {
	const char *name;
	void (*send)(struct attack *a); /* one MAD, or what one step of it takes */
	/*
	 * In the one record of an hour that names the host and its switch port, behind `before`
	 * ("": anywhere). NULL: garbage, which is told as what it happens to look like.
	 */
	const char *event, *before;
};
extern const struct attack_class attack_classes[];
extern const unsigned attack_n_classes;
/* The first one locks the manager out of the port of the host: then it is asked nothing else. */
#define ATTACK_OWN_PORT (&attack_classes[0])

/* Needs a kernel that lets answers through without a question: Linux does not. */
bool attack_is_dropped(const struct attack_class *c);
/* One forged MAD of a class, and what the host is asked is answered; counts. */
void attack_send(struct attack *a, const struct attack_class *c);
/* One of any, without or with its own port. */
enum attack_mix { ATTACK_OTHERS, ATTACK_ALL };
void attack_any(struct attack *a, enum attack_mix mix);
/* Is this log line the event of a class? */
bool attack_is_event(const struct attack *a, const struct attack_class *c, const char *line);

/* The next honest host asks for the path to another one. */
void attack_ask(struct attack *a);
/* Counts the answers that have come. */
void attack_hear(struct attack *a);

/* Remembers what all devices hold. */
void attack_look(struct attack *a);
/*
 * How many devices but the hostile host, and perhaps the switch that it is cabled to, hold
 * something else than when attack_look() was called; the first one is named.
 */
enum attack_reach { ATTACK_ANYWHERE, ATTACK_BEYOND_LEAF };
unsigned attack_changed(struct attack *a, enum attack_reach reach, const char **ret_name);
