#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Opens a file, or an http: address, in a headless chromium, evaluates expressions in it, prints each result as a line of JSON.

browse.py FILE [--shot PNG] [--pdf PDF] [--dark] [--size WxH] EXPRESSION...

An expression that begins with "until " is evaluated again until it is true, for 30 s at most; its result is whether it was. One
that begins with "run " is a command of the shell, whose status is the result: what happens outside while the page is open.

The DevTools protocol over a pipe: descriptors 3 and 4, messages ended by NUL. The last line is {"errors": [...],
"requests": [...], "ready_ms": N}: exceptions and messages of the console, addresses asked for but the file, and the time
until the page said that it is ready. Ends after two minutes at the latest.
"""
import argparse
import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, profile):
        to_read, self.to = os.pipe()
        self.out, out_write = os.pipe()
        self.errors, self.requests, self.last, self.rest = [], [], 0, b""

        def place():
            low, high = os.dup(to_read), os.dup(out_write)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--no-first-run", "--disable-background-networking", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(out_write)

    def next(self):
        while b"\0" not in self.rest:
            more = os.read(self.out, 1 << 20)
            if not more:
                raise SystemExit("chromium has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        what, p = event.get("method"), event.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.errors.append(p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"]))
        elif what == "Runtime.consoleAPICalled":
            self.errors.append("console: " + json.dumps(p["args"]))
        elif what == "Log.entryAdded":
            self.errors.append(p["entry"]["text"])
        elif what == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])

    def call(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            event = self.next()
            if event.get("id") == self.last:
                if "error" in event:
                    raise SystemExit(f"{method}: {event['error']}")
                return event["result"]
            self.note(event)


def evaluate(browser, session, expression):
    result = browser.call("Runtime.evaluate", session, expression=expression, returnByValue=True, awaitPromise=True)
    if "exceptionDetails" in result:
        raise SystemExit(f"{expression}: {result['exceptionDetails']}")
    return result["result"].get("value")


READY = "document.documentElement && document.documentElement.dataset.ready === 'yes' ? Math.round(performance.now()) : 0"


def wait_until(browser, session, expression):
    for _ in range(600):
        try:
            if evaluate(browser, session, expression):
                return True
        except SystemExit:
            pass  # the page is still being loaded
        time.sleep(0.05)
    return False


def result_of(browser, session, expression):
    if expression.startswith("until "):
        return wait_until(browser, session, expression[len("until "):])
    if expression.startswith("run "):
        return subprocess.run(expression[len("run "):], shell=True, stdout=subprocess.DEVNULL, check=False).returncode
    return evaluate(browser, session, expression)


def wait_until_ready(browser, session):
    for _ in range(600):
        ready = evaluate(browser, session, READY)
        if ready:
            return ready
        time.sleep(0.05)
    return -1


def look(browser, args):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.call(domain + ".enable", session)
    width, height = map(int, args.size.split("x"))
    browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=1, mobile=False)
    if args.dark:
        browser.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": "dark"}])
    url = args.file if args.file.startswith("http") else pathlib.Path(args.file).resolve().as_uri()
    browser.call("Page.navigate", session, url=url)
    ready = -1 if args.file.startswith("http") else wait_until_ready(browser, session)
    for expression in args.expression:
        print(json.dumps(result_of(browser, session, expression)), flush=True)
    if args.shot:
        shot = browser.call("Page.captureScreenshot", session, format="png", captureBeyondViewport=args.whole)
        pathlib.Path(args.shot).write_bytes(base64.b64decode(shot["data"]))
    if args.pdf:
        pdf = browser.call("Page.printToPDF", session, printBackground=True, preferCSSPageSize=True)
        pathlib.Path(args.pdf).write_bytes(base64.b64decode(pdf["data"]))
    print(json.dumps({"errors": browser.errors, "requests": [r for r in browser.requests if r != url], "ready_ms": ready}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--shot")
    parser.add_argument("--pdf")
    parser.add_argument("--size", default="1600x1000")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("expression", nargs="*")
    args = parser.parse_intermixed_args()
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("the browser has not answered for two minutes"))
    signal.alarm(120)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            look(browser, args)
        finally:
            browser.process.kill()
            browser.process.wait()


main()
