// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the data come from: out of the file itself (opensmctl report), or from opensm-rest, after a login, and from then on
 * as events come. Nothing is loaded from elsewhere.
 */

const REST = "/ufmRestV2", AGAIN_MS = 3000, AGAIN_MOST_MS = 60000;

function listen() {
	$("find").addEventListener("change", () => find($("find").value));
	window.addEventListener("resize", () => { if (F) drawLines(); });
	window.addEventListener("keydown", (e) => { if (e.key === "Escape" && F) close(); });
}
const ready = () => { document.documentElement.dataset.ready = "yes"; };

/* ---- living ---- */

let source = null, asked = false, more = false, again = null, ahead = 0;
let came = {}; /* documents that came while the page is asked for */
let pause = AGAIN_MS; /* until refused events are asked for again */
/* The time of the manager, whose clock need not be the browser's. */
const setTime = () => { now = Math.floor(Date.now() / 1000 + ahead); };
function readTime(s) {
	ahead = s && s.started ? Date.parse(s.started) / 1000 + s.uptime_seconds - Date.now() / 1000 : 0;
	setTime();
}

function say(kind, text) {
	$("live").hidden = false;
	$("live").className = "tag " + kind;
	$("live").textContent = text;
}
function showLogin(text) {
	$("login").hidden = false;
	$("login-note").textContent = text;
	$("user").focus();
}
async function logIn(e) {
	e.preventDefault();
	const form = new URLSearchParams({ httpd_username: $("user").value, httpd_password: $("password").value });
	const answer = await fetch("/dologin", { method: "POST", body: form }).catch(() => null);
	$("password").value = "";
	if (!answer) return showLogin("The server does not answer.");
	if (!answer.ok) return showLogin(answer.status === 401 ? "User and password do not fit." : (await answer.json().catch(() => ({}))).error || "The login is refused: " + answer.status);
	$("login").hidden = true;
	return load();
}
/* The session ends, and with it all that the page shows. */
async function logOut() {
	await fetch("/logout").catch(() => null);
	location.reload();
}
/* The whole page; a large fabric may be in the making for another reader, so it is asked for again. */
async function load() {
	/* A change meanwhile, which the answer may not have. */
	if (asked) { more = true; return undefined; }
	asked = true;
	const answer = await fetch(REST + "/page").catch(() => null);
	if (answer && answer.ok) return show(answer);
	asked = false;
	if (answer && answer.status === 401) return showLogin("Log in as a user of opensm-rest.");
	say("degraded", answer ? (await answer.json().catch(() => ({}))).error || "refused: " + answer.status : "the server does not answer");
	clearTimeout(again);
	again = setTimeout(load, AGAIN_MS);
	return undefined;
}
/* Documents that came while the page was on its way are newer than its own. */
async function show(answer) {
	const whole = await answer.json().catch(() => null);

	asked = false;
	if (!whole) {
		clearTimeout(again);
		again = setTimeout(load, AGAIN_MS);
		return undefined;
	}
	page = { ...whole, ...came };
	came = {};
	readTime(page.status);
	$("login").hidden = true;
	$("whole").hidden = $("nav").hidden = $("logout").hidden = false;
	if (!source) follow();
	await build();
	ready();
	if (!more) return undefined;
	more = false;
	return load();
}
let changed = null; /* names of documents that came and are not shown yet; null: none */
/* Several documents that come together are shown once. */
function soon(name) {
	if (changed) { changed.add(name); return; }
	changed = new Set([name]);
	setTimeout(() => { const names = changed; changed = null; if (F) refresh(names); }, 200);
}
function addEvent(event) {
	if (!isThere(page.events)) return;
	/* A stream that begins anew may repeat the last ones. */
	if (page.events.events.some((e) => e.time === event.time && e.text === event.text)) return;
	page.events.events.unshift(event);
	if (page.events.events.length > 512) page.events.events.pop();
}
/* The page is loaded anew only where the session has ended. */
async function askAgain() {
	const answer = await fetch(REST + "/app/ufm_version").catch(() => null);
	if (answer && answer.status === 401) return load();
	return follow();
}
function follow() {
	source = new EventSource(REST + "/events");
	const on = (name, take) => source.addEventListener(name, (e) => { const data = JSON.parse(e.data); setTime(); take(data); soon(name === "event" ? "events" : name); });
	for (const part of ["alarms", "marks", "health", "traffic", "managers", "history"]) on(part, (data) => { page[part] = data; if (asked) came[part] = data; });
	on("status", (data) => { page.status = { ...page.status, ...data }; });
	on("event", addEvent);
	on("fabric", (data) => { if (data.key !== page.key) load(); });
	on("again", () => load());
	on("manager", (data) => { if (data.reachable) say("ok", "living"); else say("fault", data.text); });
	source.onopen = () => { pause = AGAIN_MS; say("ok", "living"); };
	source.onerror = () => {
		say("degraded", "the stream of events ended; connecting again");
		if (source.readyState !== EventSource.CLOSED) return;
		/* Refused: the session ended, or there are too many streams. */
		source = null;
		clearTimeout(again);
		again = setTimeout(askAgain, pause);
		pause = Math.min(2 * pause, AGAIN_MOST_MS);
	};
}

/* ---- the start ---- */

listen();
if ($("data")) {
	page = JSON.parse($("data").textContent);
	now = Math.floor(Date.parse(page.made) / 1000);
	$("whole").hidden = $("nav").hidden = false;
	build().then(ready);
} else {
	$("login-form").addEventListener("submit", logIn);
	$("logout").addEventListener("click", logOut);
	load();
}
