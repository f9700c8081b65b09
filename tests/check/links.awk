# SPDX-License-Identifier: BSD-2-Clause
# Reads `nm -A` of object files. Prints the strongly connected components of more than one node:
#   by=folder  "cycle FOLDER FOLDER ..." between folders
#   by=file    "cycle FILE FILE ..." between the objects of one folder
# LTO, aliases and weak symbols play no part: what a file calls is what the linker must find elsewhere.
function node_of(object,    n) {
	n = object
	sub(/^\.\//, "", n)
	sub(/\.o$/, "", n)
	sub(/[^\/]*-/, "", n) # objects of programs with flags of their own: dir/prog-file.o
	if (by == "folder")
		sub(/\/[^\/]*$/, "", n)
	return n
}

function folder_of(node) {
	sub(/\/[^\/]*$/, "", node)
	return node
}

{
	object = $1
	sub(/:$/, "", object)
	sub(/:[0-9a-f]*$/, "", object)
	kind = $(NF - 1)
	symbol = $NF
	node = node_of(object)
	if (kind ~ /^[TDBRVWC]$/ && !(symbol in home))
		home[symbol] = node
	else if (kind == "U")
		uses[++n_uses] = node SUBSEP symbol
	nodes[node]
}

END {
	for (i = 1; i <= n_uses; i++) {
		split(uses[i], u, SUBSEP)
		to = home[u[2]]
		if (to == "" || to == u[1] || (by == "file" && folder_of(to) != folder_of(u[1])))
			continue
		if (!((u[1], to) in edge)) {
			edge[u[1], to] = u[2]
			next_of[u[1], ++degree[u[1]]] = to
		}
	}
	if (show != "") {
		for (e in edge) {
			split(e, u, SUBSEP)
			print u[1] " -> " u[2] " (" edge[e] ")"
		}
		exit
	}
	for (v in nodes)
		if (!(v in number))
			visit(v)
}

# Tarjan, without recursion: `call` is the stack of visits, `at` where each goes on.
function visit(v,    w, n_call, members, n) {
	n_call = 1
	call[1] = v
	enter(v)
	while (n_call) {
		v = call[n_call]
		if (at[v] < degree[v]) {
			w = next_of[v, ++at[v]]
			if (!(w in number)) {
				enter(w)
				call[++n_call] = w
			} else if (on[w] && number[w] < low[v]) {
				low[v] = number[w]
			}
			continue
		}
		n_call--
		if (n_call && low[v] < low[call[n_call]])
			low[call[n_call]] = low[v]
		if (low[v] != number[v])
			continue
		members = ""
		n = 0
		do {
			w = stack[n_stack--]
			on[w] = 0
			members = members " " w
			n++
		} while (w != v)
		if (n > 1)
			print "cycle" members
	}
}

function enter(v) {
	number[v] = low[v] = ++counter
	stack[++n_stack] = v
	on[v] = 1
	at[v] = 0
	degree[v] += 0
}
