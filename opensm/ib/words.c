// SPDX-License-Identifier: BSD-2-Clause
/* Numbers in words. The mapping of IP groups to MGIDs is that of RFC 4391, 4. */
#include "ib/words.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "ib/mad.h"
#include "ib/records.h"
#include "util/mem.h"

/* ---- multicast ------------------------------------------------------------------------------ */

#define SIGNATURE_IPV4 0x401B
#define SIGNATURE_IPV6 0x601B
#define IPV4_GROUP_MAX 0x0FFFFFFFu /* 28 bits of it are in the MGID */
#define IPV4_GROUP_NET 0xE0000000u

/* Groups that a host is in without a request of an application. */
static const struct {
	uint32_t group;
	const char *name;
} ipv4_names[] = {
	{ 0xE0000001, "all hosts" },   { 0xE0000002, "all routers" }, { 0xE0000005, "OSPF" },
	{ 0xE0000006, "OSPF" },	       { 0xE0000012, "VRRP" },	      { 0xE0000016, "IGMP" },
	{ 0xE00000FB, "mDNS" },	       { 0xE00000FC, "LLMNR" },	      { 0xE0000101, "NTP" },
	{ 0xE0000181, "PTP" },	       { 0xEFFFFFFA, "SSDP" },
};

static const struct {
	uint64_t group; /* the low 64 bits; the ones between them and the scope are 0 */
	const char *name;
} ipv6_names[] = {
	{ 0x1, "all hosts" }, { 0x2, "all routers" }, { 0x16, "MLD" },	   { 0xFB, "mDNS" },
	{ 0x10002, "DHCP" },  { 0x10003, "LLMNR" },   { 0x101, "NTP" },
};

#define GID_STRLEN 46

/* "ff12:401b:ffff::fb" */
static char *gid_str(const uint8_t *gid, char ret[GID_STRLEN])
{
	inet_ntop(AF_INET6, gid, ret, GID_STRLEN);
	return ret;
}

static unsigned number(const uint8_t *bytes, unsigned n)
{
	unsigned value = 0;

	while (n--)
		value = value << 8 | *bytes++;
	return value;
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
	while (n--)
		if (*bytes++)
			return false;
	return true;
}

/* "IPv4 group 224.0.0.251 (mDNS)"; false: it is none. */
static bool ipv4_words(const uint8_t *mgid, char *ret, size_t cap)
{
	uint32_t low = number(mgid + 12, 4), group = IPV4_GROUP_NET | low;
	const char *name = NULL;

	if (!all_zero(mgid + 6, 6))
		return false;
	if (low == UINT32_MAX) {
		snprintf(ret, cap, "IPv4 broadcast group");
		return true;
	}
	if (low > IPV4_GROUP_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ipv4_names); i++)
		if (ipv4_names[i].group == group)
			name = ipv4_names[i].name;
	snprintf(ret, cap, "IPv4 group %u.%u.%u.%u%s%s%s", group >> 24, group >> 16 & 0xFF,
		 group >> 8 & 0xFF, group & 0xFF, name ? " (" : "", name ? name : "",
		 name ? ")" : "");
	return true;
}

/* "IPv6 group ff02::fb (mDNS)": 80 bits of it are in the MGID. */
static bool ipv6_words(const uint8_t *mgid, char *ret, size_t cap)
{
	static const uint8_t solicited[] = { 0, 0, 0, 0, 0, 1, 0xFF };
	uint8_t group[16] = { 0xFF, mgid[1] & 0x0F };
	char address[GID_STRLEN];
	const char *name = NULL;

	memcpy(group + 6, mgid + 6, 10);
	for (size_t i = 0; i < ARRAY_SIZE(ipv6_names); i++)
		if (all_zero(mgid + 6, 2) && all_zero(mgid + 8, 4) &&
		    number(mgid + 12, 4) == ipv6_names[i].group)
			name = ipv6_names[i].name;
	if (!memcmp(mgid + 6, solicited, sizeof(solicited)))
		name = "solicited node";
	snprintf(ret, cap, "IPv6 group %s%s%s%s", gid_str(group, address), name ? " (" : "",
		 name ? name : "", name ? ")" : "");
	return true;
}

char *ib_mgid_words(const uint8_t *mgid, char ret[IB_MGID_STRLEN])
{
	char text[GID_STRLEN], what[80] = "";
	unsigned signature = number(mgid + 2, 2);
	bool known = false;

	gid_str(mgid, text);
	if (mgid[0] == 0xFF && signature == SIGNATURE_IPV4)
		known = ipv4_words(mgid, what, sizeof(what));
	else if (mgid[0] == 0xFF && signature == SIGNATURE_IPV6)
		known = ipv6_words(mgid, what, sizeof(what));
	if (known)
		snprintf(ret, IB_MGID_STRLEN, "%s of partition 0x%04x (%s)", what,
			 number(mgid + 4, 2) & 0x7FFF, text);
	else
		snprintf(ret, IB_MGID_STRLEN, "%s", text);
	return ret;
}

/* ---- MADs ----------------------------------------------------------------------------------- */

static char *name_or_number(const char *name, bool known, const char *what, unsigned value,
			    char ret[IB_WORD_STRLEN])
{
	if (known)
		snprintf(ret, IB_WORD_STRLEN, "%s", name);
	else
		snprintf(ret, IB_WORD_STRLEN, "%s 0x%04x", what, value);
	return ret;
}

char *ib_attr_words(uint16_t attr, char ret[IB_WORD_STRLEN])
{
	const char *name = ib_attr_name(attr);

	return name_or_number(name, strncmp(name, "unknown", 7) != 0, "attribute", attr, ret);
}

char *sa_attr_words(uint16_t attr, char ret[IB_WORD_STRLEN])
{
	const char *name = sa_attr_name(attr);

	return name_or_number(name, name != NULL, "attribute", attr, ret);
}

char *ib_method_words(unsigned method, char ret[IB_WORD_STRLEN])
{
	const char *name = mad_method_name(method);

	return name_or_number(name, strncmp(name, "unknown", 7) != 0, "method", method, ret);
}

/* Names that say nothing give way to the number. */
static bool is_telling(const char *name)
{
	return strcmp(name, "class-specific error") != 0 && strcmp(name, "reserved status") != 0;
}

char *mad_status_words(unsigned status, char ret[IB_WORD_STRLEN])
{
	const char *name = mad_status_name(status);

	return name_or_number(name, is_telling(name), "status", status, ret);
}

char *sa_status_words(unsigned status, char ret[IB_WORD_STRLEN])
{
	const char *name = sa_status_name(status);

	return name_or_number(name, is_telling(name), "status", status, ret);
}
