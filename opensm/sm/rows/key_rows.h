// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of the ledger by which another manager reaches locked ports as this one does, beside the
 * seeds of M_Keys (key_turn.h):
 *
 *   epoch   port GUID                -> its M_Key: a port that is absent, as guid2mkey has it
 *   cable   port GUID, port          -> far GUID, far port: as neighbors has it; a switch's ports
 *                                       by its node GUID
 *
 *   MASTER, end of a sweep --what differs from the rows--> one commit --> ledgers of the others
 *   a row comes, or was read from the disk --> guid2mkey, neighbors --> a sweep, where nodes lack
 *
 * The row of a port that is back, or is not kept as there are too many (key_absent.h), is removed.
 * A cable is one row: of the switch's end; between two of a kind, of the lesser GUID and port. A
 * cable that is unplugged stays known; one whose end has another cable is removed. Rows are written
 * where ports have keys only.
 *
 * What this manager has seen itself counts more than a row. But where the row of a key is removed
 * the master has met the port, and given it the key that it is to have: that one is likeliest from
 * then on. And a standby looks at once where a row has another cable than its picture.
 */
#pragma once

#include "sm/ledger/settle.h"
#include "sm/sm.h"

/* settle_changed_fn of rows of epochs, of cables. */
void key_rows_take_epochs(struct sm *sm, const struct ledger_key *keys, size_t n);
void key_rows_take_cables(struct sm *sm, const struct ledger_key *keys, size_t n);
void key_rows_state_changed(struct sm *sm);
/* Called after lids_save() of this sweep. */
void key_rows_sweep_ended(struct sm *sm);
void key_rows_tick(struct sm *sm);
mono_t key_rows_next(const struct sm *sm);
/*
 * As standby: takes the devices behind silent ports from rows, not from the former picture, which
 * may be of a time when a cable led elsewhere.
 */
void key_rows_recall_cables(struct sm *sm);
/* Are there keys of absent ports that may be sent to other managers? */
bool key_rows_have_keys(const struct sm *sm);
