# SPDX-License-Identifier: BSD-2-Clause
# Prints FILE NAME LINES for every function of C files in kernel layout: "{" and "}" in column one.
FNR == 1 { open = 0; name = ""; first = 0 }
!open && /^[A-Za-z_].*\(/ && !/;[ \t]*$/ {
	first = FNR
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ \t*]/, "", name)
}
!open && /^\{/ && name != "" { open = 1; next }
open && /^\}/ {
	print FILENAME, name, FNR - first + 1
	open = 0
	name = ""
}
!open && /^$/ { name = "" }
