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
	struct attack_ear *ear; /* filter between the manager and its port */

	/* ---- what attack-mads.c needs ---- */
	struct transport *tr; /* transport of the hostile host */
	/* Reads an attribute of the host's own port, as its driver does. */
	void (*read_own)(struct attack *a, uint16_t attr, uint32_t mod, uint8_t *ret);
	/*
	 * Delivers an answer without a question to the manager, as its host would let it through.
	 */
	void (*inject)(struct attack *a, const uint8_t *mad, lid_t from);
	guid_t partner; /* port of the victim's partner */
	int node, leaf, sm_node;
	unsigned leaf_port;
	guid_t guid, victim; /* port of the hostile host, and of a host of another tenant */
	lid_t lid, sm_lid, max_lid;
	uint64_t old_key; /* M_Key of the host's port before the rotation */
	struct dr_path to_sm;
	char place[PLACE_STRLEN]; /* name of the host in the log */
	uint64_t n_sent;

	struct client *honest[ATTACK_HONEST];
	unsigned next_honest;
	uint64_t asked, answered, wrong; /* requests of the honest hosts, and their answers */

	uint64_t *before; /* hash of each node, made by attack_look() */
};

/* Never NULL; the manager is MASTER. */
struct attack *attack_new(unsigned hosts, uint64_t seed);
struct attack *attack_free(struct attack *a);

void attack_run(struct attack *a, mono_t t);
uint32_t attack_roll(struct attack *a, uint32_t below);

/* A kind of attack, a row of the attack table or a part of one. */
struct attack_class {
	const char *name;
	void (*send)(struct attack *a); /* sends one MAD, or the MADs of one step */
	/*
	 * Text of the one record per hour that names the host and its switch port, behind `before`
	 * ("": anywhere). NULL: garbage, logged as the kind that it resembles.
	 */
	const char *event, *before;
};
extern const struct attack_class attack_classes[];
extern const unsigned attack_n_classes;
/* The first class locks the manager out of the host's port, which is then not asked again. */
#define ATTACK_OWN_PORT (&attack_classes[0])

/* Does the class need a kernel that delivers answers without a question? Linux does not. */
bool attack_is_dropped(const struct attack_class *c);
/* Sends one forged MAD of a class, and answers of the host to requests; counts. */
void attack_send(struct attack *a, const struct attack_class *c);
/* Sends a MAD of any class, with or without the class of its own port. */
enum attack_mix { ATTACK_OTHERS, ATTACK_ALL };
void attack_any(struct attack *a, enum attack_mix mix);
/* Is this log line the event of a class? */
bool attack_is_event(const struct attack *a, const struct attack_class *c, const char *line);

/* Lets the next honest host ask for the path to another one. */
void attack_ask(struct attack *a);
/* Counts the answers that have arrived. */
void attack_hear(struct attack *a);

/* Remembers the state of all devices. */
void attack_look(struct attack *a);
/*
 * Number of devices, except the hostile host and perhaps its switch, that have changed since
 * attack_look(); the first one is named.
 */
enum attack_reach { ATTACK_ANYWHERE, ATTACK_BEYOND_LEAF };
unsigned attack_changed(struct attack *a, enum attack_reach reach, const char **ret_name);
