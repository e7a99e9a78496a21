"""Keeps two jobs of a server running until it is killed: what-if and relations for everybody, each time another one,
so that no kept result answers.
    serve_jobs.py URL SEED     prints "running" when both have begun"""
import itertools
import json
import sys
import time
import urllib.request

url, seed = sys.argv[1], int(sys.argv[2])


def ask(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(url + path, data, method=method), timeout=60) as answer:
        return json.loads(answer.read())


def start(number):
    items = ask("GET", "/v1/items?limit=1000")["items"]
    if number % 2:
        drop = ["item=" + items[(number * 37 + seed * 101) % len(items)]["item"]]
        request = {"drop": drop, "draws": 300, "resamples": 2000 + number + 100 * seed}
        return ask("POST", "/v1/jobs", {"kind": "whatif", "request": request})["job"]
    request = {"map": "drop", "by": "item", "top": 40 + (number // 2 + 7 * seed) % 60}
    return ask("POST", "/v1/jobs", {"kind": "relations", "request": request})["job"]


numbers = itertools.count()
running, told = {start(next(numbers)), start(next(numbers))}, False
while True:
    for job in list(running):
        state = ask("GET", "/v1/jobs/" + job)
        if state["status"] in ("done", "failed", "cancelled"):
            if state["status"] == "failed":
                sys.exit(state["error"]["message"])
            running.remove(job)
            running.add(start(next(numbers)))
    if not told:
        print("running", flush=True)
        told = True
    time.sleep(0.1)
