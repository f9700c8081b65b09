// SPDX-License-Identifier: BSD-2-Clause
/*
 * Numbers in words, for people: multicast addresses, attributes, methods, status. Unknown numbers
 * are shown as such. Results are written into `ret`, which is returned.
 */
#pragma once

#include <stdint.h>

/*
 * "IPv4 group 224.0.0.251 (mDNS) of partition 0x7fff (ff12:401b:ffff::fb)"; the text of an unknown
 * group is its address alone. `mgid` has 16 bytes.
 */
#define IB_MGID_STRLEN 160
char *ib_mgid_words(const uint8_t *mgid, char ret[IB_MGID_STRLEN]);

/* "PortInfo", "PathRecord" (attributes of subnet administration), "attribute 0x1234". */
#define IB_WORD_STRLEN 48
char *ib_attr_words(uint16_t attr, char ret[IB_WORD_STRLEN]);
char *sa_attr_words(uint16_t attr, char ret[IB_WORD_STRLEN]);
/* "Get", "method 0x33" */
char *ib_method_words(unsigned method, char ret[IB_WORD_STRLEN]);
/* "invalid field", "status 0x4500"; for SA responses also "no records". */
char *mad_status_words(unsigned status, char ret[IB_WORD_STRLEN]);
char *sa_status_words(unsigned status, char ret[IB_WORD_STRLEN]);
