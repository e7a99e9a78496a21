"""Events and reloads for a server under load, and the proof that nothing acknowledged was lost.
    serve_soak.py load URL PID TOKEN MODEL OTHER TOLD    a reload every 2 seconds, MODEL and OTHER in turn, events all the
                                                         time; what was acknowledged goes to TOLD. The file TOLD.begun
                                                         appears with the first of both. It ends when the server, which
                                                         is process PID, is gone; TOLD.over must be there before.
    serve_soak.py verify URL TOKEN TOLD                  every basket in TOLD is in its user's past"""
import http.client
import json
import os
import random
import shutil
import statistics
import sys
import threading
import time

SESSIONS = 15  # of a user: as many as /v1/users/{id} shows, and some more
WRITERS = 4
PAUSE = 0.05  # of a writer between events: a shop's rate, not the disk's limit
LOOKS = 0.2  # seconds between two looks at the memory
EVENT_MB = 300e-6  # what an event takes for good: in the pasts, and in the store's own cache
NOISE = 0.05  # by which two halves of a run without a leak may differ


class Client:
    def __init__(self, url, token):
        self.headers = {"Authorization": "Bearer " + token}
        self.address = url.split("//")[1]
        self.connection = http.client.HTTPConnection(self.address, timeout=120)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text[:1] in b"{[" else text.decode()


class Load:
    def __init__(self, url, process, token, model, other, told):
        self.url, self.process, self.token = url, process, token
        self.begun, self.over = told + ".begun", told + ".over"
        self.models = [other, model + ".first"]
        self.model = model
        shutil.copy(model, self.models[1])
        self.told = open(told, "w", buffering=1)
        self.lock = threading.Lock()
        self.failures, self.events, self.reloads = [], 0, 0
        self.memory, self.peak = [], 0  # (MB, events so far), and MB

    def fail(self, what):
        with self.lock:
            self.failures.append(what)

    def is_over(self):
        return os.path.exists(self.over)

    def note_beginning(self):
        if self.events > 0 and self.reloads > 0:
            open(self.begun, "w").close()

    def until_the_end(self, work, *given):
        try:
            work(*given)
        except (OSError, http.client.HTTPException) as e:
            if not self.is_over():
                self.fail(f"{work.__name__}: {e!r}")

    def write(self, number):
        client, rng, made = Client(self.url, self.token), random.Random(number), 0
        while True:
            user = f"soak-{number}-{made // SESSIONS}"
            items = [str(i) for i in rng.sample(range(2000), 3)]
            body = json.dumps({"user": user, "session": str(made), "items": items})
            status, answer = client.ask("POST", "/v1/events", body)
            if status != 200:
                self.fail(f"event: {status} {answer}")
                return
            with self.lock:
                self.events += 1
                self.told.write(json.dumps([user, items]) + "\n")
            self.note_beginning()
            made += 1
            time.sleep(PAUSE)

    def reload(self):
        client, next_one = Client(self.url, self.token), 0
        while not self.is_over():
            shutil.copy(self.models[next_one % 2], self.model + ".new")
            os.rename(self.model + ".new", self.model)
            next_one += 1
            status, answer = client.ask("POST", "/v1/admin/reload", "")
            if status != 200:
                self.fail(f"reload: {status} {answer}")
            self.reloads += 1
            self.note_beginning()
            time.sleep(2)

    def watch(self):
        client = Client(self.url, self.token)
        while not self.is_over():
            status, text = client.ask("GET", "/metrics")
            at = [line for line in text.split("\n") if line.startswith("parsrec_resident_memory_bytes ")]
            self.memory.append((float(at[0].split()[1]) / 1e6, self.events))
            with open(f"/proc/{self.process}/status") as facts:
                peaks = [int(line.split()[1]) * 1024 / 1e6 for line in facts if line.startswith("VmHWM")]
            self.peak = max([self.peak, *peaks])  # none of a process that has just ended
            time.sleep(LOOKS)

    def run(self):
        tasks = [(self.write, i) for i in range(WRITERS)] + [(self.reload,), (self.watch,)]
        threads = [threading.Thread(target=self.until_the_end, args=task) for task in tasks]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return self.report()

    def memory_complaints(self):
        """The first fifth is for warming up. Then the median of the second half may be above that of the first by
        what the events between them take; medians, because for a moment at each reload there are two models, and a
        look may fall on it. There are never three. Less than 20 reloads are too few to tell."""
        warm = self.memory[len(self.memory) // 5 :] or [(0, 0)]
        half = len(warm) // 2 or 1
        early, late = ([statistics.median(column) for column in zip(*part)] for part in (warm[:half], warm[half:] or warm))
        most = early[0] * (1 + NOISE) + (late[1] - early[1]) * EVENT_MB
        steps = max(1, len(self.memory) // 30)
        print("memory over time:", " ".join(f"{m:.0f}" for m, _ in self.memory[::steps]), "MB")
        print(f"memory: {early[0]:.1f} MB in the first half, {late[0]:.1f} MB in the second, which may have {most:.1f};"
              f" at most {self.peak:.1f} MB")
        if self.reloads < 20:
            return []
        return ["memory grows"] * (late[0] > most) + ["more than two models at once"] * (self.peak > 2 * late[0])

    def report(self):
        print(f"{self.events} events acknowledged, {self.reloads} reloads, {len(self.failures)} failed")
        complaints = self.memory_complaints()
        for f in self.failures[:10] + complaints:
            print("failed:", f)
        return 1 if self.failures or complaints or self.events == 0 or self.reloads == 0 else 0


def verify(url, token, told):
    client, baskets = Client(url, token), {}
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
    sys.exit(Load(*sys.argv[2:]).run())
sys.exit(verify(*sys.argv[2:]))
