#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Commands of pages, and whether they print what the pages show. For pages.bats.

    pages.py list             every command: page:line, the command, what the page shows of its output
    pages.py run FOLDER       runs them, FOLDER stands for / ; exit status 1: one is not as its page says
    pages.py run FOLDER WORD  only those that have WORD

A command is a line of a literal block (indented or ``` in Markdown, .Bd -literal and .Dl in mdoc) in which a program
of ours is called, or a span of code (`...`, .Ql) that begins with one. The lines of others in such a block are run, too.
Of the output a page shows
    words in "quotes" in the comment behind the command;
    lines behind a command with a prompt, "$ " or "# ";
    a block that follows a line <!-- prints: COMMAND --> or .\\" prints: COMMAND.
They are to be found in what the command prints. Numbers, GUIDs and times may differ; N is a number, ... any words.
pages.rows has what is not run as it stands, and why. abs_top_srcdir is the folder that has the pages.
"""
import collections
import os
import re
import subprocess
import sys

TOP = os.environ["abs_top_srcdir"]
OURS = "opensm opensmctl opensm-rest opensm-launch ibfab scripts/ibfab /usr/libexec/opensm-launch".split()
OTHERS = """systemctl journalctl cp cd curl echo printf ibstat ibnetdiscover dump_fts ibdmchk install podman kubectl sqlite3 rpm dpkg apt
	apt-get make scripts/package scripts/demo smpquery udevadm $EDITOR""".split()
CALL = re.compile(r"(?:^|[\s|;&(])(?:%s)(?=\s|$)" % "|".join(map(re.escape, OURS)))
FIRST = re.compile(r"(?:%s)(?=\s|$)" % "|".join(map(re.escape, OURS + OTHERS)))
PROMPT = re.compile(r"[#$] (?=(?:%s)(?:\s|$))" % "|".join(map(re.escape, OURS + OTHERS)))
PATIENCE = 40  # seconds for one command, on a busy machine


class Command:
    def __init__(self, page, line, text):
        self.page, self.line = page, line
        self.text, self.comment = split_comment(text)
        self.shown = re.findall(r'"([^"]+)"', self.comment)

    def __str__(self):
        return "%s:%d: %s" % (self.page, self.line, self.text)


def split_comment(text):
    """The command, and the comment behind it: the first # that is not in quotes."""
    quote = None
    for i, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == "#" and i and text[i - 1].isspace():
            return text[:i].strip(), text[i + 1:].strip()
    return text.strip(), ""


# ---- pages ----

def pages():
    names = ["README.md", "CONTRIBUTING.md"]
    for folder, ends in (("man", r"\.[158]$"), ("man/guides", r"\.md$")):
        names += [folder + "/" + n for n in sorted(os.listdir(os.path.join(TOP, folder))) if re.search(ends, n)]
    return names


def unmdoc(line):
    """The text of a line of mdoc."""
    line = re.sub(r"\\[&%|]", "", line).replace("\\-", "-").replace("\\e", "\\")
    return line[1:-1] if line.startswith('"') and line.endswith('"') else line


def parts_of_mdoc(lines):
    """('block', line, [lines], marker) and ('span', line, text)."""
    marker, block, literal = None, None, False
    for n, line in enumerate(lines, 1):
        if line.startswith('.\\" prints: '):
            marker = line[len('.\\" prints: '):].strip()
        elif line.startswith(".Bd -literal"):
            literal, block = True, (n + 1, [])
        elif line.startswith(".Ed") and literal:
            yield "block", block[0], block[1], marker
            literal, block, marker = False, None, None
        elif literal:
            block[1].append(unmdoc(line))
        elif line.startswith(".Dl "):
            block = block or (n, [])
            block[1].append(unmdoc(line[4:]))
        else:
            if block:
                yield "block", block[0], block[1], marker
                block, marker = None, None
            if line.startswith(".Ql "):
                yield "span", n, unmdoc(re.sub(r"(?: [.,;:)]| Ns.*)+$", "", line[4:]))
    if block:
        yield "block", block[0], block[1], marker


def parts_of_markdown(lines):
    marker, block, fence, prose = None, None, None, []
    for n, line in enumerate(lines + [""], 1):
        found = re.match(r"<!-- prints: (.*) -->$", line)
        if fence is not None:
            if line.strip().startswith("```"):
                yield "block", block[0], block[1], marker
                fence, block, marker = None, None, None
            else:
                block[1].append(line[fence:] if not line[:fence].strip() else line)
        elif found:
            marker = found[1]
        elif line.strip().startswith("```"):
            fence, block = len(line) - len(line.lstrip()), (n + 1, [])
        elif line.startswith("    ") and (block or not prose):
            block = block or (n, [])
            block[1].append(line[4:])
        else:
            if block:
                yield "block", block[0], block[1], marker
                block, marker = None, None
            if line.strip():
                prose.append((n, line))
                continue
        if prose and not line.startswith("    "):
            yield from spans(prose)
            prose = []
    yield from spans(prose)


def spans(prose):
    """Spans of code in a paragraph; they may go on in the next line."""
    text = "\n".join(line for _, line in prose)
    for m in re.finditer(r"`([^`]+)`", text):
        yield "span", prose[0][0] + text[:m.start()].count("\n"), re.sub(r"\s+", " ", m[1])


def commands_of_block(page, first, lines):
    """Lines that go on are joined. In a block with prompts other lines are output."""
    prompts = any(PROMPT.match(l) for l in lines)
    found, text, start = [], "", 0
    for n, line in enumerate(lines, first):
        goes_on = re.match(r"\s+# (.*)", line)
        if goes_on and found and not text:
            found[-1].comment += " " + goes_on[1]
            found[-1].shown = re.findall(r'"([^"]+)"', found[-1].comment)
            continue
        if text:
            text += " " + line.strip()
        elif prompts and line[:2] not in ("# ", "$ "):
            if found and line.strip():
                found[-1].shown.append(line.strip())
            continue
        elif not line.strip() or not prompts and line.startswith("#"):
            continue
        else:
            text, start = line[2:] if prompts else line, n
        if text.endswith("\\"):
            text = text[:-1].rstrip()
        elif not text.endswith(("&&", "|")):
            found.append(Command(page, start, text))
            text = ""
    return found


def is_called(lines):
    return any(CALL.search(split_comment(l)[0]) for l in lines) and \
        any(FIRST.match(l) or PROMPT.match(l) for l in lines)


def commands():
    """All of them, in their order, once each; and the blocks of output by their commands."""
    found, outputs = collections.OrderedDict(), {}
    for page in pages():
        with open(os.path.join(TOP, page), encoding="utf-8") as f:
            lines = f.read().split("\n")
        parts = parts_of_markdown if page.endswith(".md") else parts_of_mdoc
        for part in parts(lines):
            if part[0] == "span":
                if CALL.match(part[2]) and " " in part[2]:
                    c = Command(page, part[1], part[2])
                    found.setdefault((page, c.text), c)
            elif part[3]:
                outputs[page, part[3]] = (part[1], " ".join(part[2]))
            elif is_called(part[2]):
                for c in commands_of_block(page, part[1], part[2]):
                    found[page, c.text] = c
    for (page, text), (line, shown) in outputs.items():
        if (page, text) not in found:
            found[page, text] = Command(page, line, text)
        found[page, text].shown.append(shown)
    return sorted(found.values(), key=lambda c: (pages().index(c.page), c.line))


# ---- what pages.rows says ----

class Rows:
    def __init__(self):
        self.rows, self.words, self.used = [], [], set()
        with open(os.path.join(TOP, "tests/e2e/pages.rows"), encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                verb, rest = line.rstrip("\n").split(None, 1)
                what, _, value = (s.strip() for s in rest.partition(" => "))
                if verb == "word":
                    self.words.append((re.compile(r"(?<![\w/.-])%s(?![\w-])" % re.escape(what)), value))
                elif verb in ("skip", "as", "exit", "before", "after", "alone"):
                    self.rows.append((n, verb, what, value))
                else:
                    sys.exit("pages.rows:%d: '%s' is no verb" % (n, verb))

    def of(self, verb, command):
        """Those of a command, or of all that begin so; "PAGE: " in front limits it to one page."""
        for n, v, what, value in self.rows:
            if v != verb:
                continue
            page, sep, rest = what.partition(": ")
            if sep and page.startswith(("man/", "README", "CONTRIBUTING")):
                if page != command.page:
                    continue
                what = rest
            if command.text == what or what.endswith("*") and command.text.startswith(what[:-1]):
                self.used.add(n)
                yield value

    def one(self, verb, command):
        return next(self.of(verb, command), None)

    def unused(self):
        return ["pages.rows:%d: no page has '%s' any more" % (n, what) for n, _, what, _ in self.rows
                if n not in self.used]


# ---- running ----

def normal(text):
    """What is left of a text without its numbers."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"0x[0-9a-fA-F]+|\b[0-9a-f]{16}\b", "N", text)
    text = re.sub(r"\d+(?:\.\d+)?(?:e-?\d+)?", "N", text)
    return re.sub(r"\s+", " ", text).strip()


def has(output, shown):
    """Parts of the shown text, between which anything may stand, are in the output in this order."""
    at = 0
    for part in normal(shown).split("..."):
        at = output.find(part.strip(), at)
        if at < 0:
            return False
        at += len(part.strip())
    return True


def shell(text, root):
    text = re.sub(r"(?<![\w/.$])/(?=(?:etc|var|backup|usr/libexec|usr/share|tmp/dumps|run/opensm)\b)", root + "/", text)
    try:
        p = subprocess.run(["bash", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=PATIENCE, env=dict(os.environ, ROOT=root))
        return p.returncode, p.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired as e:
        return 124, (e.stdout or b"").decode("utf-8", "replace") + "(it does not end)"


def run_one(c, rows, root):
    """What is wrong with it, or None. What is to be so then is asked, and done, in any case."""
    wrong = hooks("before", c, rows, root) or as_shown(c, rows, root)
    then = hooks("after", c, rows, root)
    return wrong or then


def hooks(verb, c, rows, root):
    for text in rows.of(verb, c):
        status, out = shell(text, root)
        if status:
            return "%s it: %s: exit status %d: %s" % (verb, text, status, out)
    return None


def as_shown(c, rows, root):
    text = rows.one("as", c)
    if text is None:
        text = c.text
        for what, value in rows.words:
            text = what.sub(value, text)
    want = int((rows.one("exit", c) or "0").split(":")[0])
    status, out = shell(text, root)
    if "-v" in sys.argv:
        print("---- %s\n---- %s\n%s" % (c, text, out), flush=True)
    if status != want:
        return "exit status %d, not %d, of %s:\n%s" % (status, want, text, out[-2000:])
    for shown in c.shown:
        if not has(normal(out), shown):
            return "the page shows '%s', it prints:\n%s" % (shown, out[:2000])
    return None


def run(root, word=""):
    rows, failed, n = Rows(), 0, 0
    todo = [c for c in commands() if rows.one("skip", c) is None]
    todo.sort(key=lambda c: rows.one("alone", c) is not None)
    page, managers = None, True
    for c in todo:
        if word not in str(c):
            continue
        if managers and rows.one("alone", c) is not None:
            managers = False
            shell("managers_end", root)
        if c.page != page:
            page = c.page
            shell("turn_page", root)
        n += 1
        wrong = run_one(c, rows, root)
        if wrong:
            failed += 1
            print("%s: %s\n" % (c, wrong), flush=True)
    stale = rows.unused() if not word else []
    for line in stale:
        print(line)
    print("%d commands run, %d not as their page says" % (n, failed))
    return 1 if failed or stale or not n else 0


def main():
    if sys.argv[1:2] == ["list"]:
        for c in commands():
            print("%s\t%s" % (c, c.shown or ""))
        return 0
    words = [w for w in sys.argv[2:] if w != "-v"]
    return run(*words[:2])


sys.exit(main())
