"""Events on two servers behind HAProxy while they and their database are killed and restarted.

  serve_cluster.py FRONT A B TOKEN FOLDER

FRONT, A and B are addresses. It ends when the file FOLDER/over appears; then it looks for every acknowledged event at
both servers. The script around it keeps three files while they apply: FOLDER/killed, a server is killed; FOLDER/away,
the database is away: only then may events and requests with `seen` get 503 with Retry-After; FOLDER/trouble, any of that
or its beginning and end.

writers   send events with ids to FRONT until they are acknowledged, then ask one server, each in turn, with `seen`: the
          answer must have the purchase in its basket
locals    do the same with one server alone, and ask it without `seen`: who acknowledged an event knows it
watchers  send an event to one server and look at the other until it is known there. In a process of their own, so that
          the times are those of the servers and not of threads that wait for their turn in the writers' process
"""
import http.client
import json
import multiprocessing
import os
import sys
import threading
import time

WRITERS, PAUSE = 4, 0.02
BAR = 0.050  # until a purchase is known at the other server, 99th percentile


def exists(name):
    return os.path.exists(os.path.join(folder, name))


class Client:
    """One connection. An answer is (status, body, headers), the body of an error of HAProxy as text; None when the
    connection was cut or refused."""

    def __init__(self, address):
        self.address, self.connection = address.split("//")[-1], None

    def ask(self, method, path, body=None, headers=()):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=90)
            self.connection.request(method, path, json.dumps(body) if body is not None else None,
                                    {"Authorization": "Bearer " + token, **dict(headers)})
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text[:1] == b"{" else text.decode(), answer.headers
        except (OSError, http.client.HTTPException):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return None


def is_cut(answer):
    """HAProxy's 502 while a server is killed: the request was sent, no answer came. A 503 of its own (no server) does not count."""
    return answer is None or answer[0] == 502 and isinstance(answer[1], str) and exists("killed")


class Count:
    def __init__(self):
        self.lock = threading.Lock()
        self.n, self.failures, self.told, self.asked = {}, [], {}, []

    def add(self, what):
        with self.lock:
            self.n[what] = self.n.get(what, 0) + 1

    def fail(self, what):
        with self.lock:
            self.failures.append(what)


# ---- writers ----


def refused_while_away(answer, began_away):
    """503 with Retry-After, and the database was away when the request began or ended."""
    return answer[0] == 503 and answer[2]["Retry-After"] and (began_away or exists("away"))


def tell(client, event):
    """Sends it until it is acknowledged; gives the answer."""
    while True:
        began_away = exists("away")
        answer = client.ask("POST", "/v1/events", event, {"Idempotency-Key": event["id"]})
        if answer is not None and answer[0] == 200:
            return answer[1]
        if is_cut(answer):
            count.add("events cut in flight, sent again")
        elif refused_while_away(answer, began_away):
            count.add("events refused with 503 while the database was away, sent again")
        else:
            count.fail(f"event: {answer[:2]}")
        time.sleep(0.1)


def look(side, user, session, seen, name):
    """At one server. It may be the one that is killed at the moment, or may not know yet while the database is away."""
    question = {"user": user, "session": session, "k": 1, **seen}
    while not exists("over"):
        began_away, began = exists("away"), time.monotonic()
        answer = side.ask("POST", "/v1/recommend", question)
        if answer is not None and answer[0] == 200:
            count.add(name)
            if seen and not exists("trouble"):
                count.asked.append(time.monotonic() - began)
            if answer[1]["basket"] != ["1000", "1014"]:
                count.fail(f"{name}, without the purchase: {answer[1]}")
            return
        if answer is None:
            count.add(name + ", that server was down")
        elif seen and refused_while_away(answer, began_away):
            count.add(name + ", refused with 503 while the database was away")
        else:
            count.fail(f"{name}: {answer[:2]}")
        time.sleep(0.1)


def write(name, through, sides, with_seen):
    made = 0
    while not exists("over"):
        user, session = f"{name}-{made // 10}", str(made)
        answer = tell(through, {"user": user, "session": session, "items": ["1000", "1014"], "id": str(made)})
        with count.lock:
            count.told[user] = count.told.get(user, 0) + 1
        count.add("events acknowledged")
        if with_seen:
            look(sides[made % len(sides)], user, session, {"seen": answer["seen"]}, "asked with seen")
        else:
            look(through, user, session, {}, "asked whoever acknowledged, without seen")
        made += 1
        time.sleep(PAUSE)


# ---- watchers ----


def watch(results):
    """Only while both servers and the database are up: what is measured is the way of an event."""
    sides, made, times, looks = [Client(a), Client(b)], 0, [], []
    while not exists("over"):
        if exists("trouble"):
            time.sleep(0.1)
            continue
        user = f"watched-{made}"
        answer = sides[made % 2].ask("POST", "/v1/events", {"user": user, "items": ["1000"]})
        if answer is None or answer[0] != 200:
            continue
        began, found = time.monotonic(), None
        while time.monotonic() - began < 10:
            asked = time.monotonic()
            found = sides[1 - made % 2].ask("GET", "/v1/users/" + user)
            looks.append(time.monotonic() - asked)
            if found is None or found[0] == 200:
                break
        if found is not None and not exists("trouble"):
            times.append(time.monotonic() - began)
        made += 1
        time.sleep(PAUSE)
    results.put((times, looks))


# ---- the end ----


def verify():
    lost = extra = 0
    for side in (Client(a), Client(b)):
        for user, own in count.told.items():
            answer = side.ask("GET", "/v1/users/" + user)
            baskets = answer[1]["baskets"] if answer is not None and answer[0] == 200 else 0
            lost += max(0, own - baskets)
            extra += max(0, baskets - own)
    return lost, extra


def at(seconds, share):
    order = sorted(seconds) or [float("inf")]
    return order[min(len(order) - 1, int(share * len(order)))]


def spread(seconds):
    return f"median {1000 * at(seconds, .5):.1f} ms, p99 {1000 * at(seconds, .99):.1f} ms, longest {1000 * at(seconds, 1):.0f} ms"


def main():
    results = multiprocessing.Queue()
    watcher = multiprocessing.Process(target=watch, args=(results,))
    watcher.start()
    plans = [(f"writer-{i}", Client(front), [Client(a), Client(b)], True) for i in range(WRITERS)]
    plans += [(f"local-{i}", Client(side), [], False) for i, side in enumerate((a, b))]
    threads = [threading.Thread(target=write, args=plan) for plan in plans]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    times, looks = results.get()
    watcher.join()
    for what, n in sorted(count.n.items()):
        print(f"{n:8} {what}")
    print(f"{len(times):8} purchases looked for at the other server until known there: {spread(times)}")
    print(f"{len(looks):8} single looks: {spread(looks)}")
    print(f"{len(count.asked):8} questions with seen: {spread(count.asked)}")
    lost, extra = verify()
    print(f"{len(count.failures):8} failed")
    print(f"{lost:8} acknowledged events lost, at either server; {extra} stored twice")
    for f in count.failures[:10]:
        print("failed:", f)
    late = at(times, .99) > BAR
    if late:
        print(f"p99 until a purchase is known at the other server is above {1000 * BAR:.0f} ms")
    good = not count.failures and lost == 0 and extra == 0 and count.n.get("events acknowledged", 0) > 0 and not late
    sys.exit(0 if good else 1)


front, a, b, token, folder = sys.argv[1:]
count = Count()
main()
