// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events that need an administrator: one row per MESSAGE_ID of the journal.
 * config/journal/opensm.catalog explains each (what it means, why, what to do),
 * tests/check/catalog.sh compares the two.
 *
 * Ids are random, made once (`journalctl --new-id128`), and never change, as alerts depend on them.
 */
#pragma once

#define LOG_IDS(ID)                                                                                \
	/* the manager itself */                                                                   \
	ID(SUBNET_UP, "b8cb78afe3de461d87ed090203a55f9d")                                          \
	ID(STATE_MASTER, "c8c408585d934fe0b2a1e41f92270cc7")                                       \
	ID(STATE_STANDBY, "1187146083154497a773d285db750e59")                                      \
	ID(STATE_DISCOVERING, "692c067eb0d547f4a23a88e67afaf42e")                                  \
	ID(STATE_NOT_ACTIVE, "f6f9fdd9c3f545c69d509549c230ee01")                                   \
	ID(ERRORS, "af133be1b07a4f9885b19e69ad0dd2b3")                                             \
	ID(STUCK, "540ac1a42131448e9f1eb078e2c5cdf8")                                              \
	ID(PORT_WAIT, "2cea9f96a34144d4b7262768051c1c3a")                                          \
	ID(PORT_DOWN, "ee45b8bd19574e46ac11bd2a5aacc859")                                          \
	ID(PORT_GONE, "f6e3462102154083961171fe3be456f2")                                          \
	/* nodes, ports, cables */                                                                 \
	ID(LEFT_OUT, "ea146c55325042d1bac6605039323abd")                                           \
	ID(SILENT, "86d86d4c97254b08930660a67ed70c7a")                                             \
	ID(LEDGER_KEEPING, "f1e090a0a4dc427383593c704727f6e1")                                     \
	ID(KEYS_CHANGE, "8ef7c9fb10ee4b788c60ef18a208c8bf")                                        \
	ID(LOCKED, "f1b25d3860ec49c2b055a961f33980c2")                                             \
	ID(DUPLICATE_GUID, "e3d38960935d428f8780f37d40cb4704")                                     \
	ID(IDENTITY, "134f46b1f56d4e59b42b937528d0aa14")                                           \
	ID(CAPABILITY, "7d1cde15faa647fd9dbc7ca06fac25fd")                                         \
	ID(CABLE, "347eba60e5e84e0bbd7e789451b8f9f1")                                              \
	ID(PORT_OFF, "f09d97c83d9a4ef891234f14d135561c")                                           \
	ID(LINK_HEALTH, "5f0b7d2e6c814a3f9d41c2a7e8b36f10")                                        \
	ID(LINK_MARKED, "d6b412ba75784562bc87784a355e5e1f")                                        \
	ID(TOPOLOGY, "6f0d3c1be19b4fb0a1ad2c0c7d5f9e42")                                          \
	ID(NODE_GONE, "b2108a48d14d47e78e9be5c8b9710684")                                          \
	ID(NODE_CAME, "8d1a4c0e6f2b4d7e9c35b07a61e2f984")                                          \
	ID(LINK_DOWN, "3b9e5d7241c84a06b8f1d2c96a7e0354")                                          \
	ID(LINK_UP, "c4f7e81960d34b2fa5e8739b1d06c2ae")                                            \
	ID(REFUSED_SET, "8992423d82a54a328ac6a7cf304ff2fb")                                        \
	ID(TABLE_CHANGED, "805e4cdfaf2f4700a7a75495d2ad9086")                                      \
	/* traps */                                                                                \
	ID(TRAP_FORGED, "e014a0f86d044f4eba1b183a73ea9aff")                                        \
	ID(TRAP_STORM, "b5f43f7fe2fd47808e2af77b9585df10")                                         \
	ID(TRAP_ERRORS, "f3367d3e377d4d3d83830978cc88902f")                                        \
	ID(TRAP_KEY, "5ad0ede63b2847169642b2214336bf8a")                                           \
	/* hostile hosts */                                                                        \
	ID(ANSWERS_FORGED, "d713833fcfd1422c82386f339057177f")                                     \
	/* other managers */                                                                       \
	ID(MANAGER_SEEN, "0f71f970302b424f865faa78af17cd50")                                       \
	ID(MANAGER_REFUSED, "5ee8844c68944e30aa1496f6fedafdf5")                                    \
	ID(HANDOVER, "e0c3ff711a84453f830eb662e0f7366c")                                           \
	ID(HANDOVER_FAILED, "58040d739c214583979f2a5488bc90cb")                                    \
	ID(REPLICA, "fb32a3d5f9b14b5ba66a509d68377e01")                                            \
	/* configuration, files */                                                                 \
	ID(CONF_TAKEN, "b2a2c139b65e48bdacf25cbb4b446d28")                                         \
	ID(CONF_REFUSED, "b37d0c071f664db3a7889971d87fed69")                                       \
	ID(CONF_FINDING, "bdb30a0ad822443198f328b880973405")                                       \
	ID(PARTITION_FAULT, "0d7c35c49cbc4fb2953290c4c1f3df95")                                    \
	ID(DISK_FAULT, "2b7889db93e64cd0b7e56c5492112342")                                         \
	ID(DISK_HANGS, "d7a02f266e124903a32d0fef9bd0a572")                                         \
	ID(WORKER_HANGS, "0a149e2867b84cb686cc8c18c25a2c43")                                       \
	/* routes, tables, clients */                                                              \
	ID(NO_ROUTES, "19227fcd88e24c5dafed84d65263ed57")                                          \
	ID(ENGINE_DIED, "96ad8a312a8e4449a00200ef7862d99f")                                        \
	ID(NO_CHILD, "9892373a59ce4bb590c8bd7259003783")                                           \
	ID(ROUTE_CHECK, "64b24c7e707e48988ff0749767787f1e")                                        \
	ID(TABLE_FULL, "77ad2d85399f475db40aef58f94b9f1e")                                         \
	ID(LID_FAULT, "5abefb70827c4b3384847a5f4059403b")                                          \
	ID(JOIN_REFUSED, "715f0355426b496782d36f235ee60aa4")                                       \
	ID(SA_KEY, "606c6212abbc49f48b549cb878d1d278")                                             \
	ID(SA_KEY_GUESSED, "d81ee530476c47da9b8b35d151d849d5")                                     \
	ID(SA_REFUSED, "21b0cdb2658c4797bcbda7330e64a82a")                                         \
	ID(SUBSCRIBER_LOST, "a9fbddd465e54b2cb6b54dc841bd8f60")                                    \
	ID(TOO_MANY, "d8a3c6f0e5b7429fb1ce9d4a7f08c327")                                           \
	/* partitions at run time */                                                               \
	ID(TENANT_CHANGE, "4d4c267df30e4c6da87dbf120402a571")                                      \
	/* the launcher */                                                                         \
	ID(INSTANCE_FAILED, "4ee70e347bcb402a8949a3ff30dc59dc")                                    \
	ID(INSTANCE_ENDED, "7d591865570546d7a7962a1aa2d47a8c")                                     \
	ID(SETTINGS_REFUSED, "254cb0df994f408191418ee22aa60f5b")
