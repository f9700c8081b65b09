#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What must hold of the models of the ledger holds at every state, with two managers.
exec "$(dirname "$0")/check" two
