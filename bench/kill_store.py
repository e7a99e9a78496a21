"""Kills a server repeatedly while it stores events, forgets users or reloads, and looks after each restart.

  kill_store.py PARSREC FOLDER STORE KIND ROUNDS SEED

FOLDER holds model-1.st, model-2.st and the file token. KIND is events, forget or reload. In every round the server
starts, what the round before left is looked at through its own answers, clients ask for more, and SIGKILL comes at a
random moment: one time in eight before the server has said that it is ready. What must hold:
- every acknowledged event is there exactly once, also one that was not acknowledged and is sent again by its id;
- who was forgotten and acknowledged is gone, from a SQLite file too, byte by byte; all others are there;
- the server starts, and leaves no files but its own.
"""
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

USERS = 6  # of a round of forgetting
ROUNDS_A_STORE = 100  # then a new one begins, so that replaying stays quick


class Server:
    def __init__(self, parsrec, store):
        self.log = open("log", "ab")
        self.process = subprocess.Popen(
            [parsrec, "serve", "served.st", "--store", store, "--token-file", "token", "--listen", "127.0.0.1:0",
             "--no-quality", "--threads", "2"], stdout=subprocess.PIPE, stderr=self.log)
        self.port = None

    def wait(self):
        line = self.process.stdout.readline().decode()
        if not line:
            sys.exit(f"the server does not start: {open('log', errors='replace').read()[-500:]}")
        self.port = int(line.strip().rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait() != 0:
            sys.exit("the server did not stop in good order")


class Client:
    """One connection. A request gives (status, body), or None when the server went away."""

    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": "Bearer " + token}

    def ask(self, method, path, body=None):
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None, self.headers)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None


def event(user, number):
    return {"user": user, "items": ["1000"], "id": f"{user}-{number}", "time": 1700000000 + number}


class Trial:
    def __init__(self, parsrec, store, kind, seed):
        self.parsrec, self.kind = parsrec, kind
        self.file = store[len("sqlite:"):] if store.startswith("sqlite:") else None
        self.store = store
        self.token = open("token").read().strip()
        self.random = random.Random(seed)
        self.users = {}  # key: [acknowledged events, one may be on its way]
        self.forgotten = {}  # key: acknowledged
        self.acknowledged = self.checked = self.early = 0

    # ---- clients ----

    def send_events(self, client, user):
        state = self.users.setdefault(user, [0, False])
        while True:
            state[1] = True
            answer = client.ask("POST", "/v1/events", event(user, state[0]))
            if answer is None:
                return
            if answer[0] != 200 or answer[1]["stored"] != 1:
                sys.exit(f"an event got {answer}")
            state[0] += 1
            state[1] = False
            self.acknowledged += 1

    def forget_users(self, client, names):
        for user in names:
            for number in range(2):
                if client.ask("POST", "/v1/events", event(user, number)) is None:
                    return
            self.users[user] = [2, False]
        self.random.shuffle(names)
        for user in names[1:]:
            self.forgotten[user] = False
            answer = client.ask("DELETE", f"/v1/users/{user}")
            if answer is None:
                return
            if answer[0] != 200:
                sys.exit(f"forgetting got {answer}")
            self.forgotten[user] = True
            self.acknowledged += 1
        self.send_events(client, names[0])

    def reload_often(self, client, _):
        number = 0
        while True:
            number += 1
            shutil.copyfile(f"model-{1 + number % 2}.st", "fresh.st")
            os.rename("fresh.st", "served.st")
            answer = client.ask("POST", "/v1/admin/reload", {})
            if answer is None:
                return
            if answer[0] != 200:
                sys.exit(f"a reload got {answer}")
            self.acknowledged += 1

    # ---- looking ----

    def baskets(self, client, user):
        status, body = client.ask("GET", f"/v1/users/{user}")
        return body["baskets"] if status == 200 else 0

    def look(self, client):
        for user, (count, flying) in self.users.items():
            found, gone = self.baskets(client, user), self.forgotten.get(user)
            if gone or (gone is False and found == 0):
                if found != 0:
                    sys.exit(f"{user} was forgotten and has {found} baskets")
                continue
            if not count <= found <= count + flying:
                sys.exit(f"{user} has {found} baskets, {count} were acknowledged")
            if flying:  # the client tries again
                status, body = client.ask("POST", "/v1/events", event(user, count))
                if status != 200 or body["stored"] + found != count + 1:
                    sys.exit(f"{user}: sent again: {body}, {found} of {count}")
                if self.baskets(client, user) != count + 1:
                    sys.exit(f"{user}: sent again and stored twice, or not at all")
            self.checked += 1
        self.look_into_file()
        self.users.clear()
        self.forgotten.clear()

    def look_into_file(self):
        if self.file is None:
            return
        gone = [user for user, acknowledged in self.forgotten.items() if acknowledged]
        for name in (self.file, self.file + "-wal"):
            content = open(name, "rb").read() if os.path.exists(name) else b""
            for user in gone:
                if user.encode() in content:
                    sys.exit(f"{name} still has {user}")

    def look_around(self):
        allowed = {"model-1.st", "model-2.st", "served.st", "fresh.st", "token", "log", "server", "initdb.log",
                   "start.log"}
        if self.file is not None:
            allowed |= {self.file + end for end in ("", "-wal", "-shm")}
        rest = set(os.listdir(".")) - allowed
        if rest:
            sys.exit(f"left behind: {rest}")

    # ---- rounds ----

    def new_store(self):
        if self.file is None:
            subprocess.run(["psql", "-q", self.store, "-c", "DROP TABLE parsrec_events, parsrec_meta"], check=True)
            return
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.file + end):
                os.remove(self.file + end)

    def work(self, server, number):
        jobs = {"events": [(self.send_events, f"r{number}-{i}-") for i in range(2)],
                "forget": [(self.forget_users, [f"r{number}-{i}-" for i in range(USERS)])],
                "reload": [(self.reload_often, None), (self.send_events, f"r{number}-0-")]}[self.kind]
        threads = [threading.Thread(target=job, args=(Client(server.port, self.token), what)) for job, what in jobs]
        for thread in threads:
            thread.start()
        time.sleep(self.random.random() * 0.15)
        server.kill()
        for thread in threads:
            thread.join()

    def run(self, rounds):
        shutil.copyfile("model-1.st", "served.st")
        for number in range(rounds):
            server = Server(self.parsrec, self.store)
            if self.random.random() < 0.125:  # while it loads, replays, or tidies its log
                time.sleep(self.random.random() * 0.1)
                self.early += 1
                server.kill()
                server = Server(self.parsrec, self.store)
            server.wait()
            self.look(Client(server.port, self.token))
            if number % ROUNDS_A_STORE == 0 and number > 0:
                server.stop()
                if self.file is not None and os.path.exists(self.file + "-wal"):
                    sys.exit("the log is still there after a stop in good order")
                self.new_store()
                server = Server(self.parsrec, self.store)
                server.wait()
            self.work(server, number)
            self.look_around()
            if number % 100 == 99:
                print(f"{number + 1} rounds", file=sys.stderr, flush=True)
        server = Server(self.parsrec, self.store)
        server.wait()
        self.look(Client(server.port, self.token))
        server.stop()
        print(f"{self.kind} on {self.store.split(':')[0]}: {rounds} kills at work and {self.early} at the start, "
              f"{self.acknowledged} acknowledged, {self.checked} users looked at, 0 wrong")


def main():
    parsrec, folder, store, kind, rounds, seed = sys.argv[1:]
    os.chdir(folder)
    Trial(parsrec, store, kind, int(seed)).run(int(rounds))


if __name__ == "__main__":
    # A thread that finds something wrong ends the whole.
    threading.excepthook = lambda args: (sys.stderr.write(f"{args.exc_value}\n"), os._exit(1))
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
            os._exit(1)
        raise
