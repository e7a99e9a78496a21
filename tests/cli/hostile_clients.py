"""Clients that mean harm, or do not know better. Each must get its status, or be cut off, and the server must
answer everybody else meanwhile.
    hostile_clients.py requests PORT                all kinds of requests, of a server that gives them time
    hostile_clients.py slow PORT CONNECTIONS IDLE   those who take their time, of a server that gives little of it;
                                                    CONNECTIONS: how many it serves, IDLE: how many say nothing"""
import json
import re
import resource
import select
import socket
import sys
import threading
import time

port = int(sys.argv[2])
problems = []
PATIENCE = 900  # a busy machine may be slow; nothing here should need it


def check(what, found, expected):
    if found != expected and not (isinstance(expected, (set, tuple)) and found in expected):
        problems.append(f"{what}: {found!r}, expected {expected!r}")


def connect():
    s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    s.settimeout(PATIENCE)
    return s


def read_all(s):
    """Until the server closes, or PATIENCE is over."""
    data = b""
    try:
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            data += piece
    except ConnectionResetError:
        pass
    except socket.timeout:
        return b"timed out"
    return data


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else answer[:60]


def raw(request):
    s = connect()
    try:
        s.sendall(request)
    except (ConnectionResetError, BrokenPipeError):
        pass
    answer = read_all(s)
    s.close()
    return answer


def get(target, extra=b""):
    return raw(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n" + extra + b"Connection: close\r\n\r\n")


def post(path, body, extra=b""):
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + extra
    return raw(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def alive(after):
    check("alive after " + after, status_of(get(b"/healthz")), 200)


def has_sentence(what, answer):
    body = answer.split(b"\r\n\r\n", 1)[-1]
    try:
        message = json.loads(body)["error"]["message"]
        check(what + " has a sentence", len(message) > 10, True)
    except (ValueError, KeyError, TypeError):
        problems.append(f"{what}: not our error: {body[:80]!r}")


def requests():
    # ---- paths ----
    for target, expected in [
        (b"/../../../../etc/passwd", 404),
        (b"/%2e%2e/%2e%2e/etc/passwd", 404),
        (b"/..%2f..%2fetc/passwd", 404),
        (b"/v1/users/..%2f..%2fetc%2fpasswd", 404),
        (b"/./healthz", 404),
        (b"//healthz", 404),
        (b"/healthz/", 404),
        (b"/healthz%00", 400),
        (b"/healthz%0", 400),
        (b"/%ff%fe", 400),
        (b"/v1/items?q=%c3%28", 400),
        (b"/\\..\\..\\windows", 404),
        (b"/v1/items?" + b"&".join(b"a=1" for _ in range(40)), 414),
        (b"/" + b"a/" * 30, 414),
        (b"/" + b"a" * 5000, 414),
        (b"/v1/items?limit=99999999999999999999", 400),
        (b"/v1/items?limit=-1", 400),
    ]:
        answer = get(target)
        check(f"GET {target[:40]!r}", status_of(answer), expected)
        has_sentence(f"GET {target[:40]!r}", answer)
    check("a path without a slash", status_of(get(b"healthz")), 400)
    check("another host's address", status_of(get(b"http://example.org/healthz")), 400)
    alive("paths")

    # ---- what is not HTTP ----
    for name, request, expected in [
        ("no host", b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        ("two hosts", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: 127.0.0.1\r\n\r\n", 400),
        ("a length that is not a number", b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n", 400),
        ("a negative length", b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400),
        ("an unknown method", b"BREW /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405),
        ("options", b"OPTIONS /v1/recommend HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405),
        ("headers too large", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40000 + b"\r\n\r\n", 431),
    ]:
        check(name, status_of(raw(request)), expected)
    for name, request in [
        ("bytes at random", bytes(range(256)) * 20 + b"\r\n\r\n"),
        ("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200),
        ("another protocol", b"SSH-2.0-OpenSSH_9.2\r\n"),
    ]:
        # Closed with a 400 or without a word; the client's own close ends what waits for more.
        s = connect()
        s.sendall(request)
        s.shutdown(socket.SHUT_WR)
        check(name, status_of(read_all(s)) in (400, 405, 414, 431, 505, b""), True)
        s.close()
    alive("what is not HTTP")

    # ---- bodies ----
    for name, body, expected in [
        ("deep JSON", b'{"basket":' + b"[" * 200000 + b"]" * 200000 + b"}", 400),
        ("deep JSON, not closed", b"[" * 500000, 400),
        ("deep objects", b'{"a":' * 100000, 400),
        ("invalid UTF-8", b'{"user":"\xff\xfe"}', 400),
        ("half a character", b'{"user":"\xe2\x82"}', 400),
        ("half a surrogate", b'{"user":"\\ud800"}', 400),
        ("a NUL in a text", b'{"user":"a\\u0000b"}', 400),
        ("a NUL in the body", b'{"k":1}\x00', 400),
        ("empty", b"", 400),
        ("two keys", b'{"k":1,"k":2}', 400),
        ("a huge number", b'{"k":1e999}', 400),
        ("a number too large", b'{"k":99999999999999999999999}', 400),
        ("wrong types", b'{"user":{},"basket":"A"}', 400),
        ("null", b"null", 400),
        ("a list", b"[1,2,3]", 400),
        ("a long user", b'{"user":"' + b"u" * 100000 + b'"}', 200),
        ("many requests", b'{"requests":[' + b",".join([b"{}"] * 2000) + b"]}", 400),
    ]:
        answer = post(b"/v1/recommend", body)
        check(name, status_of(answer), expected)
        if expected != 200:
            has_sentence(name, answer)
    for name, body, expected in [
        ("events: wrong types", b'{"user":1.5,"items":["1000"]}', 400),
        ("events: items", b'{"user":"u","items":{"a":1}}', 400),
        ("events: too many items", b'{"user":"u","items":[' + b",".join([b'"a"'] * 5000) + b"]}", 413),
        ("events: a long user", b'{"user":"' + b"u" * 100000 + b'","items":["1000"]}', 400),
        ("events: none", b'{"events":[]}', 400),
        ("events: of events", b'{"events":[{"events":[]}]}', 400),
        ("events: SQL", b"{\"user\":\"'; DROP TABLE events; --\",\"items\":[\"1000\"]}", 200),
    ]:
        check(name, status_of(post(b"/v1/events", body)), expected)
    check("what-if: wrong types", status_of(post(b"/v1/whatif", b'{"drop":[1]}')), 400)
    check("what-if: a file", status_of(post(b"/v1/whatif", b'{"drop":["item=1000"],"groups":["a=/etc/passwd"]}')), 400)
    answer = post(b"/v1/recommend", b"x" * 3000000)
    check("a huge body", status_of(answer) in (413, b""), True)
    head = b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"
    answer = raw(head)
    check("a huge body, announced", status_of(answer), 413)
    has_sentence("a huge body, announced", answer)
    head = b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(head + b"100000\r\n" + b"x" * 0x100000 + b"\r\n" + b"100000\r\n" + b"x" * 0x100000 + b"\r\n0\r\n\r\n")
    check("a huge body in pieces", status_of(answer), 413)
    answer = raw(head + b'7\r\n{"k":1}\r\n0\r\n\r\n')
    check("a small body in pieces", status_of(answer), 200)
    alive("bodies")

    # ---- bodies that make much work: none of it grows with the square of their length ----
    names = [f"x{i}" for i in range(100000)]
    events = [{"user": "u", "items": names[i : i + 250]} for i in range(0, len(names), 250)]
    answer = post(b"/v1/events", json.dumps({"events": events + events[:10]}, separators=(",", ":")).encode())
    check("events of unknown items", status_of(answer), 200)
    check("unknown items", json.loads(answer.split(b"\r\n\r\n", 1)[1]).get("unknown_items"), names)
    answer = post(b"/v1/recommend", json.dumps({"k": 1, "exclude": names}, separators=(",", ":")).encode())
    check("a list of unknown items", status_of(answer), 200)
    check("they are listed", json.loads(answer.split(b"\r\n\r\n", 1)[1]).get("unknown_items"), names)
    alive("much work")

    # ---- bodies in pieces, well and badly cut ----
    chunked = b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    for name, body, expected in [
        ("a byte a piece", b"".join(b"1\r\n%c\r\n" % c for c in b'{"k":1}') + b"0\r\n\r\n", {200}),
        ("capitals and zeros in front", b'0007\r\n{"k":1}\r\n000\r\n\r\n', {200}),
        ("an extension and a trailer", b'7;a=b\r\n{"k":1}\r\n0\r\nX-More: 1\r\n\r\n', {200, 400, b""}),
        ("a chunk size that is not a number", b"zz\r\n{}\r\n0\r\n\r\n", {400, b""}),
        ("a negative size", b"-1\r\n{}\r\n0\r\n\r\n", {400, b""}),
        ("a size beyond 64 bits", b"1ffffffffffffffff\r\n{}\r\n0\r\n\r\n", {400, 413, b""}),
        ("a size of 64 bits", b"ffffffffffffffff\r\n{}\r\n0\r\n\r\n", {400, 413, b""}),
        ("a piece longer than it says", b'2\r\n{"k":1}\r\n0\r\n\r\n', {400, b""}),
    ]:
        s = connect()
        s.sendall(chunked + body)
        s.shutdown(socket.SHUT_WR)
        check("pieces: " + name, status_of(read_all(s)), expected)
        s.close()
    alive("pieces")

    # ---- many requests in one packet: answered in their order ----
    users = [b"pipelined-%d" % i for i in range(100)]
    bodies = [b'{"user":"' + u + b'","k":1}' for u in users]
    packet = b"".join(
        b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s"
        % (len(b), b"Connection: close\r\n" if b is bodies[-1] else b"", b)
        for b in bodies
    )
    answer = raw(packet)
    check("a hundred at once", [u for u in users if b'"user":"' + u + b'"' in answer], users)
    places = [answer.find(b'"user":"' + u + b'"') for u in users]
    check("their order", places, sorted(places))
    alive("a hundred at once")

    # ---- whose length is said twice: nothing that follows is taken for a request of its own ----
    inner = b"GET /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for name, headers, body in [
        ("length and pieces", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
        ("pieces and length", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"),
        ("two lengths", b"Content-Length: 2\r\nContent-Length: %d\r\n" % (2 + len(inner)), b"{}"),
        ("two lengths, the other way", b"Content-Length: %d\r\nContent-Length: 2\r\n" % (2 + len(inner)), b"{}"),
        ("a list of lengths", b"Content-Length: 2, %d\r\n" % (2 + len(inner)), b"{}"),
        ("a length with a sign", b"Content-Length: +2\r\n", b"{}"),
        ("a length in another base", b"Content-Length: 0x2\r\n", b"{}"),
        ("an unknown coding", b"Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n", b"{}"),
        ("codings in a list", b"Transfer-Encoding: chunked, identity\r\nContent-Length: 2\r\n", b"{}"),
        ("a space before the colon", b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"),
        ("a folded header", b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n"),
        ("a header without a name", b": x\r\nContent-Length: 5\r\n", b"0\r\n\r\n"),
        ("a line that ends early", b"Transfer-Encoding: chunked\nContent-Length: 5\r\n", b"0\r\n\r\n"),
    ]:
        s = connect()
        s.sendall(b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + body + inner)
        s.shutdown(socket.SHUT_WR)
        answer = read_all(s)
        s.close()
        found = [int(n) for n in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)]
        # libmicrohttpd writes the head of its own refusals twice.
        check(f"{name}: refused, and the connection closed", found, ([400], [400, 400], []))
    old = b"POST /v1/recommend HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(old + b'7\r\n{"k":1}\r\n0\r\n\r\n' + inner)
    check("pieces in HTTP/1.0", [int(n) for n in re.findall(rb"HTTP/1\.[01] (\d{3}) ", answer)], [400])
    alive("lengths")

    # ---- two requests in one packet; one that hides in another ----
    two = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = raw(two + two[:-2] + b"Connection: close\r\n\r\n")
    check("two at once", answer.count(b'{"status":"ok"}'), 2)
    answer = raw(
        b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 44\r\nTransfer-Encoding: chunked\r\n"
        b"Connection: close\r\n\r\n0\r\n\r\nGET /v1/model HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    check("a request inside another", b'"parameters"' in answer, False)
    alive("two at once")

    # ---- those who leave ----
    for request in [head + b"100\r\nxx", b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"]:
        for _ in range(50):
            s = connect()
            s.sendall(request)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # a reset
            s.close()
    for _ in range(50):  # before the answer, which another thread makes
        s = connect()
        s.sendall(b"GET /v1/relations?map=lift&by=item&user=K01 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        s.close()
    for i in range(24):  # more long work than fits, and nobody waits for it
        s = connect()
        body = b'{"drop":["item=1000"],"draws":1000,"resamples":%d}' % (20 + i)
        s.sendall(b"POST /v1/whatif HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        s.close()
    alive("those who leave")

    def job(body):
        """A job's name once there is room for it."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            answer = post(b"/v1/jobs", body)
            if status_of(answer) in (200, 202):
                return json.loads(answer.split(b"\r\n\r\n", 1)[1])["job"].encode()
            check("no room for a job", status_of(answer), 503)
            check("when to come again", b"\r\nRetry-After: " in answer, True)
            time.sleep(0.1)
        problems.append("work that nobody waits for is not given up")
        return b"none"

    def job_state(name):
        return json.loads(get(b"/v1/jobs/" + name).split(b"\r\n\r\n", 1)[1]).get("status")

    name = job(b'{"kind":"relations","request":{"map":"lift","by":"category"}}')
    began = time.monotonic()
    while job_state(name) in ("queued", "running") and time.monotonic() - began < PATIENCE:
        time.sleep(0.1)
    check("a job after those who left", job_state(name), "done")
    for target in [b"/v1/jobs/", b"/v1/jobs/%00", b"/v1/jobs/../model", b"/v1/jobs/" + b"0" * 32, b"/v1/jobs/" + b"f" * 1500]:
        check(f"GET {target[:40]!r}", status_of(get(target)), {400, 404})

    # ---- more jobs than fit ----
    # A busy server may read requests of those who left only now, so the first of these waits for room.
    long_job = b'{"kind":"whatif","request":{"drop":["item=1000"],"draws":1000,"resamples":%d}}'
    taken = [job(long_job % 60)]
    found = [post(b"/v1/jobs", long_job % (61 + i)) for i in range(30)]
    check("jobs beyond the queue", {503} <= {status_of(a) for a in found} <= {202, 503}, True)
    check("when to come again", all(b"\r\nRetry-After: " in a for a in found if status_of(a) == 503), True)
    taken += [json.loads(a.split(b"\r\n\r\n", 1)[1])["job"].encode() for a in found if status_of(a) == 202]
    for name in taken:
        head = b"DELETE /v1/jobs/" + name + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        check("a job is cancelled", status_of(raw(head)), 200)
    alive("jobs")

    # ---- more slow work than the queue holds: refused with Retry-After, nothing worse ----
    found = []

    def ask_slowly(i):
        found.append(get(b"/v1/relations?map=drop&by=item&top=%d" % (40 + i % 60)))

    threads = [threading.Thread(target=ask_slowly, args=(i,)) for i in range(60)]
    for t in threads:
        t.start()
    alive("slow work")
    for t in threads:
        t.join()
    check("slow work", {status_of(a) for a in found} <= {200, 503}, True)
    refused = [a for a in found if status_of(a) == 503]
    check("Retry-After says when to come again", all(b"\r\nRetry-After: " in a for a in refused), True)


def slow(limit, idle_count):
    # ---- slow clients: one byte at a time never makes a request ----
    lasted = {}

    def drip(name, request, pause):
        """Sends a byte now and then until it is cut off; notes how long that took and what it heard."""
        s = connect()
        s.setblocking(False)
        began = time.monotonic()
        at = 0
        while time.monotonic() - began < PATIENCE:
            try:
                s.send(request[at % len(request) : at % len(request) + 1])
                at += 1
            except (ConnectionResetError, BrokenPipeError):
                break
            time.sleep(pause)
            try:
                if s.recv(1000) == b"":
                    break
            except BlockingIOError:
                pass
            except ConnectionResetError:
                break
        lasted[name] = time.monotonic() - began
        s.close()

    headers = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" * 500
    body = b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + b" " * 100000
    silent = connect()
    threads = [
        threading.Thread(target=drip, args=("headers", headers, 0.05)),
        threading.Thread(target=drip, args=("body", body, 0.02)),
    ]
    for t in threads:
        t.start()

    # ---- one who asks for much and reads nothing ----
    deaf = connect()
    deaf.setblocking(False)
    try:
        while True:
            deaf.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
    except BlockingIOError:
        pass

    # ---- thousands who say nothing ----
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limit + 500
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, wanted) if hard != resource.RLIM_INFINITY else wanted, hard))
    idle = [connect() for _ in range(idle_count)]
    alive("idle connections")
    check("an answer beside them", status_of(post(b"/v1/recommend", b'{"k":1}')), 200)

    for t in threads:
        t.join()
    for name, took in lasted.items():
        check(f"slow {name} is cut off", took < PATIENCE, True)
    check("slow ones", sorted(lasted), ["body", "headers"])
    check("a silent one", read_all(silent), b"")
    # It must be cut off while it still reads nothing: if it read now, it would get all the answers it asked for.
    hung_up = select.poll()
    hung_up.register(deaf, select.POLLRDHUP)
    check("the one who reads nothing is cut off", len(hung_up.poll(PATIENCE * 1000)), 1)
    deaf.close()
    check("the idle are closed", all(read_all(s) == b"" for s in idle), True)
    alive("everything")


if sys.argv[1] == "requests":
    requests()
else:
    slow(*(int(a) for a in sys.argv[3:5]))
print(*problems, sep="\n", end="")
sys.exit(1 if problems else 0)
