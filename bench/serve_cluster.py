"""Load on two servers behind HAProxy while they and their database are killed and restarted.

  serve_cluster.py FRONT A B TOKEN FOLDER SECONDS

FRONT, A and B are addresses. It ends after SECONDS, or later when the file FOLDER/over appears; then it looks at every
acknowledged event at both servers. In FOLDER/away is written by the script around it, with a line of text, while
the database is away: then, and only then, events and requests with `seen` may get 503 with Retry-After.

readers   ask FRONT for recommendations; every answer must be 200
writers   send events with ids to FRONT until they are acknowledged, then ask the server that is not the nearest one with
          `seen`: the answer must have the purchase in its basket
watchers  send an event to one server and look at the other until it is known there: how long that takes, and how long
          a single look takes on the same machine at the same time
"""
import http.client
import json
import os
import random
import sys
import threading
import time

front, a, b, token, folder, seconds = sys.argv[1:]
HEADERS = {"Authorization": "Bearer " + token}
READERS, WRITERS, WATCHERS = 4, 4, 1
end = time.monotonic() + float(seconds)


def is_over():
    return time.monotonic() > end and os.path.exists(folder + "/over")


def is_away():
    return os.path.exists(folder + "/away")


class Client:
    """One connection. An answer is (status, body, headers), the body of an error of HAProxy as text; None when the
    connection was cut or refused."""

    def __init__(self, address):
        self.address, self.connection = address.split("//")[-1], None

    def ask(self, method, path, body=None, headers=()):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=30)
            self.connection.request(method, path, json.dumps(body) if body is not None else None,
                                    {**HEADERS, **dict(headers)})
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text[:1] == b"{" else text.decode(), answer.headers
        except (OSError, http.client.HTTPException):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return None


def is_cut(answer):
    """HAProxy's 502 while a server is killed: the request was sent, no answer came. A 503 of its own, no server, is none."""
    return answer[0] == 502 and isinstance(answer[1], str) and os.path.exists(folder + "/killed")


class Count:
    def __init__(self):
        self.lock = threading.Lock()
        self.n, self.failures, self.times, self.looks, self.told = {}, [], [], [], {}

    def add(self, what):
        with self.lock:
            self.n[what] = self.n.get(what, 0) + 1

    def fail(self, what):
        with self.lock:
            self.failures.append(what)


count = Count()


def read(number):
    client, rng = Client(front), random.Random(number)
    while not is_over():
        answer = client.ask("POST", "/v1/recommend", {"user": f"K{rng.randrange(1, 60):02}", "basket": ["1000"], "k": 5})
        count.add("answers")
        if answer is None or is_cut(answer):
            count.add("answers cut in flight")
        elif answer[0] != 200 or len(answer[1]["items"]) != 5:
            count.fail(f"recommend: {answer[:2]}")


def tell(client, event):
    """Sends it until it is acknowledged; gives the answer."""
    while True:
        began_away = is_away()
        answer = client.ask("POST", "/v1/events", event, {"Idempotency-Key": event["id"]})
        if answer is not None and answer[0] == 200:
            return answer[1]
        if answer is None or is_cut(answer):
            count.add("events cut in flight, sent again")
        elif answer[0] != 503 or not answer[2]["Retry-After"]:
            count.fail(f"event: {answer[:2]}")
        elif began_away or is_away():
            count.add("events refused with 503 while the database was away, sent again")
        else:
            count.add("events refused with 503 just after, sent again")
        time.sleep(0.05)


def write(number):
    through, sides, made = Client(front), [Client(a), Client(b)], 0
    while not is_over():
        user, session = f"writer-{number}-{made // 10}", str(made)
        answer = tell(through, {"user": user, "session": session, "items": ["1000", "1014"], "id": f"{number}-{made}"})
        with count.lock:
            count.told.setdefault(user, 0)
            count.told[user] += 1
        count.add("events acknowledged")
        look(sides[made % 2], user, session, answer["seen"])
        made += 1


def look(side, user, session, seen):
    """At one server. It may be the one that is killed at the moment, or may not know yet while the database is away."""
    question = {"user": user, "session": session, "k": 1, "seen": seen}
    while not is_over():
        answer = side.ask("POST", "/v1/recommend", question)
        if answer is not None and answer[0] == 200:
            count.add("asked with seen")
            if answer[1]["basket"] != ["1000", "1014"]:
                count.fail(f"seen {seen} without the purchase: {answer[1]}")
            return
        if answer is None:
            count.add("asked with seen while that server was down")
        elif answer[0] == 503 and answer[2]["Retry-After"]:
            count.add("asked with seen, not yet known: 503")
        else:
            count.fail(f"seen: {answer[:2]}")
        time.sleep(0.02)


def watch(number):
    """Only while both servers and the database are up: what is measured is the way of an event."""
    sides, made = [Client(a), Client(b)], 0
    while not is_over():
        if os.path.exists(folder + "/trouble"):
            time.sleep(0.1)
            continue
        user = f"watched-{number}-{made}"
        answer = sides[made % 2].ask("POST", "/v1/events", {"user": user, "items": ["1000"]})
        if answer is None or answer[0] != 200:
            continue
        began = time.monotonic()
        while time.monotonic() - began < 10:
            asked = time.monotonic()
            found = sides[1 - made % 2].ask("GET", "/v1/users/" + user)
            count.looks.append(time.monotonic() - asked)
            if found is None or found[0] == 200:
                break
        if found is not None and not os.path.exists(folder + "/trouble"):
            count.times.append(time.monotonic() - began)
        made += 1
        time.sleep(0.01)


def verify():
    lost = extra = 0
    for side in (Client(a), Client(b)):
        for user, own in count.told.items():
            answer = side.ask("GET", "/v1/users/" + user)
            baskets = answer[1]["baskets"] if answer is not None and answer[0] == 200 else 0
            lost += max(0, own - baskets)
            extra += max(0, baskets - own)
    return lost, extra


threads = [threading.Thread(target=work, args=(i,)) for work, n in ((read, READERS), (write, WRITERS), (watch, WATCHERS))
           for i in range(n)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for what, n in sorted(count.n.items()):
    print(f"{n:8} {what}")


def spread(seconds):
    order = sorted(seconds) or [0]
    return "median %.1f ms, p99 %.1f ms" % tuple(1000 * order[min(len(order) - 1, int(q * len(order)))] for q in (.5, .99))


times = count.times
print(f"{len(times):8} looked for at the other server until they were known: {spread(times)}")
print(f"{len(count.looks):8} looks that took, each: {spread(count.looks)}")
lost, extra = verify()
print(f"{len(count.failures):8} failed")
print(f"{lost:8} acknowledged events lost, at either server; {extra} stored twice")
for f in count.failures[:10]:
    print("failed:", f)
good = not count.failures and lost == 0 and extra == 0 and count.n.get("events acknowledged", 0) > 0 and times
sys.exit(0 if good else 1)
