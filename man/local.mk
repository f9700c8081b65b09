# SPDX-License-Identifier: BSD-2-Clause
dist_man_MANS = man/opensm.8
EXTRA_DIST += man/README.md
