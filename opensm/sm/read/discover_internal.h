// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of discovery: discover.c, node_desc.c (names), forget.c (gone), probe_key.c,
 * silent.c, capability.c.
 */
#pragma once

#include "sm/sm_internal.h"

/* Of a port. */
enum {
	TOLD_QUARANTINE,
	TOLD_CAPABILITY,
	TOLD_SILENT, /* of a host, at its first port */
	TOLD_SILENT_BEHIND
};

struct discover {
	struct discover_questions ask;
	bool partial;		/* this sweep reads what has changed, all else is carried over */
	lid_t former_master;	/* of the master that we watch, or watched; 0: none */
	unsigned pending;	/* questions that the running sweep waits for */
	mono_t last_end;	/* of a question that was waited for */
	unsigned descs_pending; /* NodeDescription */
	unsigned own_tries;	/* of asking our own port */
	unsigned near_tries;	/* of asking the switch in front of it, a key after the other */
	unsigned own_key;	/* which of its keys is tried, until it has answered once */
	uint64_t met_by_m_key;	/* a node is being met that answered to this key; 0: none is */
	bool keys_mixed;	/* nodes have keys of before and behind a change: both are tried */
	uint64_t keys_likely;	/* of the ring that probes were tried with */
	bool cables_changed;	/* in this sweep */
	/* in this sweep: one between switches was out, and may have led elsewhere */
	bool cables_moved;
	uint32_t picture;	   /* sweep whose reading was settled last */
	struct log_limit name_log; /* nodes that are called otherwise now */
	struct log_limit fault_log;
	struct log_limit claim_log; /* of ports that say what cannot be (capability.c) */
};

#define DISCOVER_KEYS 8

/*
 * probe_key.c. *ret: Get(NodeInfo) of what is behind `p`, over *path. False: that is too far
 * (14.2.1.2: 63 hops at most).
 */
bool discover_probe_is(struct sm *sm, struct port *p, struct dr_path *path,
		       struct mad_request *ret);
/* Probes through `p` that wait or are on their way end. */
void discover_cancel_probes(struct sm *sm, struct port *p);
/*
 * Further keys that the node behind the port is asked with at once, besides `first`: where another
 * manager may have ruled it meanwhile, one key after the other would take a timeout each. All that
 * is behind a switch, and another manager, is found once that is open, so more are tried. Returns
 * how many.
 */
unsigned discover_other_mkeys(const struct sm *sm, struct port *p, uint64_t first,
			      uint64_t ret[DISCOVER_KEYS]);
/*
 * Another key than `key` that the node behind the port may have; 0: none. Of a node that this
 * process has met, only another manager can have changed it.
 */
uint64_t discover_rival_mkey(const struct sm *sm, const struct port *p, uint64_t key);
/* The node behind the port answered to this key: the next question uses it again. */
void discover_key_found(const struct sm *sm, struct port *p, uint64_t m_key);
/*
 * True of the switch in front of our own port, as all that a sweep could read is behind it, and of
 * another switch with `n` further keys to try: it is asked at once, though it is silent.
 */
bool discover_asks_at_once(const struct sm *sm, const struct port *p, unsigned n);
/* On a lossy fabric all tries of a question may be lost: it is put once more per sweep and port. */
bool discover_worth_asking_again(const struct sm *sm, struct port *p, const struct mad_result *r);
/* After a probe that ended with this: the next key is tried in this sweep. */
bool discover_worth_another_key(const struct sm *sm, const struct port *p,
				const struct mad_result *r);

/*
 * silent.c: what is behind `p` was silent before and its link has not fallen; it is asked, and
 * the sweep does not wait for that. False: it has to be asked as any other.
 */
bool discover_asks_silent(struct sm *sm, struct port *p);
/* A node that was silent behind `p` answered a question that no sweep waits for. */
void discover_heard_behind(struct sm *sm, struct port *p);
/* A probe through `p` has ended. Returns true if the sweep did not wait for its answer. */
bool discover_ended_late(struct sm *sm, struct port *p, const struct mad_result *r);
/* Behind `p` is a node that was never met, and the sweep waits for others of its kind at most. */
bool discover_is_late_stranger(const struct sm *sm, const struct port *p);
/* Late questions end, as what is behind `p` is asked anew. */
void discover_drop_late(struct sm *sm, struct port *p);
/* The node behind `p` counts as silent; that is said once. */
void discover_found_silent(struct sm *sm, struct port *p);
void discover_say_silent(struct sm *sm, struct port *p, const struct mad_result *r);
/* A question to `p`, or through it, went wrong; `what` stands before the attribute in the log. */
void discover_note_fault(struct sm *sm, const char *what, struct port *p,
			 const struct mad_result *r);

/* ext_port_info.c: whether the link at `p` is an FDR10 one. */
void discover_ask_ext_port_info(struct sm *sm, struct port *p);
