// SPDX-License-Identifier: BSD-2-Clause
/* Which port umad.c picks. What needs a device is tested under ibsim (tests/e2e/). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "libvendor/umad.h"

enum { DOWN = 1, INIT = 2, ARMED = 3, ACTIVE = 4 };

static void named_port_is_taken_whatever_its_state(void **state)
{
	const struct umad_port_choice ports[] = {
		{ "mlx5_0", 1, .guid = 0x11, .state = ACTIVE },
		{ "mlx5_1", 1, .guid = 0x22, .state = DOWN },
	};

	assert_int_equal(umad_choose_port(ports, 2, 0x22), 1);
	assert_int_equal(umad_choose_port(ports, 2, 0x11), 0);
}

static void unknown_guid_is_not_replaced_by_another_port(void **state)
{
	const struct umad_port_choice port = { "mlx5_0", 1, .guid = 0x11, .state = ACTIVE };

	assert_int_equal(umad_choose_port(&port, 1, 0x33), -ENODEV);
}

static void only_port_is_taken_though_it_is_down(void **state)
{
	const struct umad_port_choice port = { "mlx5_0", 1, .guid = 0x11, .state = DOWN };

	assert_int_equal(umad_choose_port(&port, 1, 0), 0);
}

static void active_port_goes_before_one_that_is_merely_up(void **state)
{
	const struct umad_port_choice ports[] = {
		{ "mlx5_0", 1, .guid = 0x11, .state = DOWN },
		{ "mlx5_0", 2, .guid = 0x12, .state = INIT },
		{ "mlx5_1", 1, .guid = 0x22, .state = ARMED },
		{ "mlx5_2", 1, .guid = 0x32, .state = ACTIVE },
		{ "mlx5_3", 1, .guid = 0x42, .state = ACTIVE },
	};

	assert_int_equal(umad_choose_port(ports, 5, 0), 3);
	assert_int_equal(umad_choose_port(ports, 3, 0), 1);
	assert_int_equal(umad_choose_port(ports, 1, 0), 0);
}

static void without_ports_there_is_nothing_to_choose(void **state)
{
	assert_int_equal(umad_choose_port(NULL, 0, 0), -ENODEV);
	assert_int_equal(umad_choose_port(NULL, 0, 0x11), -ENODEV);
}

static void port_with_sms_disabled_is_never_chosen(void **state)
{
	const struct umad_port_choice ports[] = {
		{ "mlx5_0", 1, .guid = 0x11, .state = ACTIVE, .sm_disabled = true },
		{ "mlx5_1", 1, .guid = 0x22, .state = ACTIVE, .sm_disabled = true },
		{ "smi1", 1, .guid = 0x22, .state = DOWN },
	};
	char why[256];

	assert_int_equal(umad_choose_port(ports, 3, 0), 2);
	assert_int_equal(umad_choose_port(ports, 3, 0x22), 2);
	assert_int_equal(umad_choose_port(ports, 3, 0x11), -ENODEV);
	assert_int_equal(umad_choose_port(ports, 2, 0), -ENODEV);
	umad_say_none(ports, 3, 0x11, why, sizeof(why));
	assert_string_equal(why, "mlx5_0/1, GUID 0x0000000000000011: port has SMs disabled; needs "
				 "an SMI device (rdma dev add NAME type SMI parent mlx5_0)");
	umad_say_none(ports, 3, 0x33, why, sizeof(why));
	assert_string_equal(why, "none of this host's 3 InfiniBand ports has GUID "
				 "0x0000000000000033");
	umad_say_none(NULL, 0, 0, why, sizeof(why));
	assert_string_equal(why, "this host has no InfiniBand port");
}

/* Four planes have four SMI devices with the GUID of the one for traffic. */
static const struct umad_port_choice split[] = {
	{ "mlx5_0", 1, .guid = 0x11, .state = ACTIVE, .sm_disabled = true },
	{ "mlx5_1", 1, .guid = 0x22, .state = DOWN, .sm_disabled = true },
	{ "mlx5_2", 1, .guid = 0x22, .state = INIT, .sm_disabled = true },
	{ "smi1", 1, .guid = 0x22, .state = DOWN },
	{ "smi2", 1, .guid = 0x22, .state = INIT },
	{ "whole", 1, .guid = 0x44, .state = ACTIVE },
};

static void devices_of_one_guid_are_a_pair(void **state)
{
	assert_int_equal(umad_choose_port(split, 6, 0x22), 4);
	assert_int_equal(umad_gsi_by(NULL, split, 6, 4), 2);
	assert_int_equal(umad_gsi_by(NULL, split, 6, 5), 5);
	assert_int_equal(umad_gsi_by(NULL, split + 3, 3, 0), 0);
}

static struct umad_lib_pair answer;

static int library_says(const char *device, uint8_t port, struct umad_lib_pair *ret,
			unsigned enforce_smi)
{
	assert_string_equal(device, "smi2");
	assert_int_equal(port, 1);
	assert_int_equal(enforce_smi, 1);
	*ret = answer;
	return answer.gsi_name[0] ? 0 : 1;
}

static void pair_of_libibumad_is_believed_where_it_can_be_right(void **state)
{
	answer = (struct umad_lib_pair){ "smi2", 1, "mlx5_1", 1 };
	assert_int_equal(umad_gsi_by(library_says, split, 6, 4), 1);
	answer = (struct umad_lib_pair){ "smi2", 1, "mlx5_0", 1 };
	assert_int_equal(umad_gsi_by(library_says, split, 6, 4), 2);
	answer = (struct umad_lib_pair){ "smi2", 1, "mlx5_1", 2 };
	assert_int_equal(umad_gsi_by(library_says, split, 6, 4), 2);
	answer = (struct umad_lib_pair){ 0 };
	assert_int_equal(umad_gsi_by(library_says, split, 6, 4), 2);
}

static void one_port_of_each_guid_is_offered(void **state)
{
	struct umad_port_choice ports[6];

	memcpy(ports, split, sizeof(ports));
	assert_int_equal(umad_keep_sm_ports(ports, 6), 2);
	assert_string_equal(ports[0].device, "smi1");
	assert_string_equal(ports[1].device, "whole");
}

static void ethernet_cannot_carry_smps(void **state)
{
	assert_true(umad_link_layer_fits("InfiniBand"));
	assert_true(umad_link_layer_fits("IB"));
	assert_true(umad_link_layer_fits(""));
	assert_false(umad_link_layer_fits("Ethernet"));
	assert_false(umad_link_layer_fits("Unspecified"));
}

/* The machine that runs unit tests may or may not have a port; one with this GUID it has not. */
static void absent_port_is_told_in_words(void **state)
{
	struct transport *t = NULL;
	char why[128] = "";

	assert_int_equal(umad_transport_open(0xDEADBEEFDEADBEEFull, &t, why, sizeof(why)), -ENODEV);
	assert_null(t);
	assert_string_not_equal(why, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_port_is_taken_whatever_its_state),
		cmocka_unit_test(unknown_guid_is_not_replaced_by_another_port),
		cmocka_unit_test(only_port_is_taken_though_it_is_down),
		cmocka_unit_test(active_port_goes_before_one_that_is_merely_up),
		cmocka_unit_test(without_ports_there_is_nothing_to_choose),
		cmocka_unit_test(port_with_sms_disabled_is_never_chosen),
		cmocka_unit_test(devices_of_one_guid_are_a_pair),
		cmocka_unit_test(pair_of_libibumad_is_believed_where_it_can_be_right),
		cmocka_unit_test(one_port_of_each_guid_is_offered),
		cmocka_unit_test(ethernet_cannot_carry_smps),
		cmocka_unit_test(absent_port_is_told_in_words),
	};

	return cmocka_run_group_tests_name("umad", tests, NULL, NULL);
}
