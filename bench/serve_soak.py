"""Events and reloads for a server under load, and the proof that nothing acknowledged was lost.
    serve_soak.py load URL TOKEN SECONDS MODEL OTHER TOLD    a reload every 2 seconds, MODEL and OTHER in turn, events
                                                             all the time; what was acknowledged goes to TOLD. It
                                                             ends when the server is gone, which must come after
                                                             SECONDS.
    serve_soak.py verify URL TOLD                            every basket in TOLD is in its user's past"""
import http.client
import json
import os
import random
import shutil
import sys
import threading
import time

SESSIONS = 15  # of a user: as many as /v1/users/{id} shows, and some more
WRITERS = 4
PAUSE = 0.05  # of a writer between events: a shop's rate, not the disk's limit


class Client:
    def __init__(self, url):
        self.address = url.split("//")[1]
        self.connection = http.client.HTTPConnection(self.address, timeout=120)

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text[:1] in b"{[" else text.decode()


class Load:
    def __init__(self, url, token, seconds, model, other, told):
        self.url, self.token = url, token
        self.ends = time.monotonic() + seconds
        self.models = [other, model + ".first"]
        self.model = model
        shutil.copy(model, self.models[1])
        self.told = open(told, "w", buffering=1)
        self.lock = threading.Lock()
        self.failures, self.events, self.reloads, self.memory = [], 0, 0, []

    def fail(self, what):
        with self.lock:
            self.failures.append(what)

    def is_over(self):
        return time.monotonic() >= self.ends

    def write(self, number):
        client, rng, made = Client(self.url), random.Random(number), 0
        while True:
            user = f"soak-{number}-{made // SESSIONS}"
            items = [str(i) for i in rng.sample(range(2000), 3)]
            body = json.dumps({"user": user, "session": str(made), "items": items})
            try:
                status, answer = client.ask("POST", "/v1/events", body)
            except (OSError, http.client.HTTPException) as e:
                if not self.is_over():
                    self.fail(f"event: {e!r}")
                return
            if status != 200:
                self.fail(f"event: {status} {answer}")
                return
            with self.lock:
                self.events += 1
                self.told.write(json.dumps([user, items]) + "\n")
            made += 1
            time.sleep(PAUSE)

    def reload(self):
        client, next_one = Client(self.url), 0
        while not self.is_over():
            shutil.copy(self.models[next_one % 2], self.model + ".new")
            os.rename(self.model + ".new", self.model)
            next_one += 1
            status, answer = client.ask("POST", "/v1/admin/reload", "", {"Authorization": "Bearer " + self.token})
            if status != 200:
                self.fail(f"reload: {status} {answer}")
            self.reloads += 1
            status, text = client.ask("GET", "/metrics")
            at = [line for line in text.split("\n") if line.startswith("parsrec_resident_memory_bytes ")]
            self.memory.append(float(at[0].split()[1]) / 1e6)
            time.sleep(2)

    def run(self):
        threads = [threading.Thread(target=self.write, args=(i,)) for i in range(WRITERS)]
        threads.append(threading.Thread(target=self.reload))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return self.report()

    def report(self):
        """The first fifth is for warming up; flat means that what comes later does not grow. A run of less than
        20 reloads is too short to tell."""
        warm = self.memory[len(self.memory) // 5 :] or [0]
        half = len(warm) // 2
        early, late = max(warm[: half or 1]), max(warm[half:])
        print(f"{self.events} events acknowledged, {self.reloads} reloads, {len(self.failures)} failed")
        print("memory every reload:", " ".join(f"{m:.0f}" for m in self.memory[:: max(1, len(self.memory) // 30)]), "MB")
        print(f"memory: at most {early:.1f} MB in the first half, {late:.1f} MB in the second")
        for f in self.failures[:10]:
            print("failed:", f)
        if len(self.memory) >= 20 and late > early * 1.1 + 4:
            print("failed: memory grows")
            return 1
        return 1 if self.failures or self.events == 0 else 0


def verify(url, told):
    client, baskets = Client(url), {}
    for line in open(told):
        user, items = json.loads(line)
        baskets.setdefault(user, []).append(sorted(items))
    lost = extra = 0
    for user, own in baskets.items():
        status, facts = client.ask("GET", "/v1/users/" + user)
        found = [sorted(b) for b in facts["recent"]] if status == 200 else []
        for basket in own:
            if basket in found:
                found.remove(basket)
            else:
                lost += 1
        extra += len(found)
    total = sum(len(b) for b in baskets.values())
    print(f"after kill -9: {total} acknowledged events, {lost} lost, {extra} stored whose answer was cut off")
    return 0 if lost == 0 and extra <= WRITERS and total > 0 else 1


if sys.argv[1] == "load":
    url, token, seconds, model, other, told = sys.argv[2:]
    sys.exit(Load(url, token, float(seconds), model, other, told).run())
sys.exit(verify(*sys.argv[2:]))
