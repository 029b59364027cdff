"""serve_clients: the clients of serve that serve.test cannot be: many at once, slow, rude, and those that leave.

Usage: python3 serve_clients.py SERVE ENGINE GEN. Prints a line for each case."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

SERVE, ENGINE, GEN = sys.argv[1:4]
PATIENCE = 120          # seconds; a guard against hangs only


class Server:
    all = []

    def __init__(self, *options, tcp=False, engine="'%s'" % ENGINE, files=None):
        self.path = "socket"
        command = "echo $$ >engine.pid; exec " + engine
        self.process = subprocess.Popen(
            [SERVE, "--engine", command, "-v", "--listen", "0" if tcp else "unix:" + self.path, *options],
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))))
        Server.all.append(self)
        self.address = self.process.stderr.readline().strip().split(": ", 1)[1]
        self.get("/v1/models")          # the engine is there

    def connect(self):
        if self.process.poll() is not None:
            raise RuntimeError("serve has " + self.end())
        if self.address.startswith("unix:"):
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.address[5:])
        else:
            host, port = self.address[len("http://"):].rsplit(":", 1)
            s = socket.create_connection((host, int(port)))
        s.settimeout(PATIENCE)
        return s

    def get(self, path):
        s = self.connect()
        s.sendall(b"GET %s HTTP/1.0\r\n\r\n" % path.encode())
        return read_all(s)

    def metric(self, name):
        return int(re.search(r"^lmpipe_%s (\d+)" % name, self.get("/metrics"), re.M).group(1))

    def until(self, name, value):
        end = time.monotonic() + PATIENCE
        while self.metric(name) != value:
            if time.monotonic() > end:
                raise RuntimeError("%s is %d, not %d" % (name, self.metric(name), value))
            time.sleep(0.01)

    def engine_runs(self):
        try:
            os.kill(int(open("engine.pid").read()), 0)
            return True
        except ProcessLookupError:
            return False

    def end(self, *signals):
        for s in signals:
            self.process.send_signal(s)
            time.sleep(0.01)
        status = self.process.wait(PATIENCE)
        said = self.process.stderr.read()
        return "status %d%s%s%s" % (status, ", said " + said.strip() if said else "",
                                    ", the engine runs" if self.engine_runs() else "",
                                    ", the socket is there" if os.path.exists(self.path) else "")


def read_all(s):
    data = b""
    while True:
        try:
            piece = s.recv(1 << 16)
        except ConnectionError:
            break
        if not piece:
            break
        data += piece
    s.close()
    return data.decode()


def read_until(s, text):
    data = b""
    while text.encode() not in data:
        piece = s.recv(1 << 16)
        if not piece:
            raise RuntimeError("closed before %r: %r" % (text, data))
        data += piece
    return data.decode()


def child(parent, name):
    """The process of this name that the parent has started."""
    for line in subprocess.run(["ps", "-A", "-o", "pid=", "-o", "ppid=", "-o", "comm="], capture_output=True,
                               text=True).stdout.splitlines():
        pid, of, command = line.split(None, 2)
        if int(of) == parent and os.path.basename(command) == name:
            return int(pid)
    raise RuntimeError("%d has no child %s" % (parent, name))


def request(text, stream=False, close=True, **members):
    body = json.dumps({"messages": [{"role": "user", "content": text}], "stream": stream, **members}).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s" % (
        b"Connection: close\r\n" if close else b"", len(body), body)


def status(answer):
    return answer.split("\r\n", 1)[0] or "nothing"


def words_of(answer):
    return "".join(json.loads(line[6:])["choices"][0]["delta"].get("content", "")
                   for line in answer.split("\n") if line.startswith("data: {"))


def together(server):
    """64 clients at once, each with 8 requests on a connection of its own."""
    wrong = []

    def client(number):
        s = server.connect()
        for i in range(8):
            text = "client %d request %d" % (number, i)
            s.sendall(request("say " + text, stream=True, close=False))
            got = words_of(read_until(s, "[DONE]\n\n\r\n0\r\n\r\n"))
            if got != text:
                wrong.append((text, got))
        s.close()

    threads = [threading.Thread(target=client, args=(i,)) for i in range(64)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return "right" if not wrong else "wrong: %r" % wrong[0]


def dribbled(server):
    s = server.connect()
    for byte in request("say slowly"):
        s.sendall(bytes([byte]))
    return status(read_all(s))


def pipelined(server):
    s = server.connect()
    s.sendall(b"".join(request("say %d" % i, close=i == 9) for i in range(10)))
    return re.findall(r'"content":"(\d)"', read_all(s))


def half(server):
    for n in range(1, len(request("say so")), 7):
        s = server.connect()
        s.sendall(request("say so")[:n])
        s.close()
    return status(server.get("/v1/models"))


def left(server, rudely):
    before = server.metric("clients_left_total")
    for stream in False, True:
        s = server.connect()
        s.sendall(request("wait", stream))
        server.until("requests", 1)
        if rudely:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
        server.until("requests", 0)
    server.until("clients_left_total", before + 2)
    return "cancelled"


def left_many(server):
    """Of a client that leaves, only the texts that the engine has are completed."""
    body = json.dumps({"input": ["wait"] * 300}).encode()
    s = server.connect()
    s.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    server.until("requests", 1)
    s.close()
    server.until("requests", 0)
    return "cancelled"


def slow_reader(server):
    s = server.connect()
    s.sendall(request("many 100000", stream=True))
    time.sleep(0.3)
    return len(words_of(read_all(s)).split())


def continued(server):
    s = server.connect()
    head, body = request("say so").split(b"\r\n\r\n")
    s.sendall(head + b"\r\nExpect: 100-continue\r\n\r\n")
    first = read_until(s, "\r\n\r\n")
    s.sendall(body)
    return status(first), status(read_all(s))


def refused_early(server):
    """A body that is too large is refused before it is sent, and a client that sends it nevertheless is answered."""
    s = server.connect()
    s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
    try:
        for _ in range(64):
            s.sendall(bytes(1 << 16))
    except ConnectionError:
        pass
    return status(read_all(s))


def many(server):
    """2,000 requests, or fewer with EVERY, leave no descriptor and no request behind."""
    files = "/proc/%d/fd" % server.process.pid
    before = len(os.listdir(files)) if os.path.isdir(files) else 0
    for i in range(2000 // int(os.environ.get("EVERY", "1"))):
        s = server.connect()
        s.sendall(request("say so", stream=i % 2 == 1))
        if i % 5 == 0:
            s.close()
        else:
            read_all(s)
    server.until("requests", 0)
    server.until("connections", 1)
    after = len(os.listdir(files)) if os.path.isdir(files) else 0
    return "nothing is left" if after <= before else "%d descriptors, then %d" % (before, after)


def full(server):
    waiting = []
    for _ in range(2):
        s = server.connect()
        s.sendall(request("wait"))
        waiting.append(s)
    server.until("requests", 2)
    s = server.connect()
    s.sendall(request("say so"))
    answer = read_all(s)
    for w in waiting:
        w.close()
    server.until("requests", 0)
    s = server.connect()
    s.sendall(request("say so"))
    return status(answer), "Retry-After: 1\r\n" in answer, status(read_all(s))


def crowded(server):
    """More connections than the server may have descriptors for: the last ones wait."""
    crowd = [server.connect() for _ in range(50)]
    for s in crowd:
        s.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    for s in crowd:
        read_until(s, '"ok"')
        s.close()
    return "all are answered"


def late(server):
    s = server.connect()
    s.sendall(request("say so")[:-1])
    idle = server.connect()
    unread = server.connect()
    unread.sendall(request("many 3000000", stream=True))
    first = status(read_all(s)), read_all(idle)
    server.until("connections", 1)
    unread.close()
    return first


def examples(server):
    """The clients in examples/ whose language is here."""
    folder = os.path.join(os.path.dirname(__file__), "..", "examples")
    for command in ["python3"], ["node"], ["go", "run"]:
        client = os.path.join(folder, "client." + {"python3": "py", "node": "mjs", "go": "go"}[command[0]])
        if not shutil.which(command[0]) or command[0] == "node" and subprocess.run(
                ["node", "-e", "process.exit(typeof fetch === 'function' ? 0 : 1)"]).returncode:
            print("skip examples/%s: no %s (1 cases)" % (os.path.basename(client), command[0]))
            continue
        for text, status, said in ("say hello there", 0, "hello there\n"), ("refuse", 1, ""):
            run = subprocess.run(command + [client, server.address, text], capture_output=True, text=True)
            if (run.returncode, run.stdout) != (status, said):
                return "%s: status %d, %r, %s" % (client, run.returncode, run.stdout, run.stderr)
    return "right"


def in_turn(server):
    """A request for many choices does not keep another waiting until it is done."""
    many, one = server.connect(), server.connect()
    many.sendall(request("Tell me a story.", stream=True, ignore_eos=True, n=128, max_tokens=60))
    said = many.recv(1 << 16)
    one.sendall(request("Tell me a story.", ignore_eos=True, max_tokens=5))
    answer = read_all(one)
    many.setblocking(False)
    try:
        while b"[DONE]" not in said:
            said += many.recv(1 << 16) or b"[DONE]"
    except BlockingIOError:
        pass
    many.close()
    return status(answer) if b"[DONE]" not in said else "the first is done before the second"


def main():
    server = Server()
    print("together:", together(server))
    print("dribbled:", dribbled(server))
    print("pipelined:", *pipelined(server))
    print("half:", half(server))
    print("left:", left(server, False))
    print("left with many texts:", left_many(server))
    print("slow reader:", slow_reader(server))
    print("continued:", *continued(server))
    print("many:", many(server))
    print("a second server:", subprocess.run([SERVE, "--engine", "true", "--listen", "unix:socket"],
                                            capture_output=True, text=True).stderr.strip())
    print("ended:", server.end(signal.SIGTERM))

    server = Server("--queue", "2", tcp=True)
    print("full:", *full(server))
    print("examples:", examples(server))
    print("left rudely:", left(server, True))
    print("refused early:", refused_early(server))
    s = server.connect()
    s.sendall(request("wait", stream=True))
    server.until("requests", 1)
    print("ended while answering:", server.end(signal.SIGTERM, signal.SIGTERM), status(read_all(s)))

    server = Server(files=40)
    print("few descriptors:", crowded(server), server.end(signal.SIGTERM))

    server = Server()
    os.killpg(server.process.pid, signal.SIGTERM)
    print("all get the signal:", server.end())

    server = Server("--timeout", "0.5")
    print("late:", *late(server))
    print("ended:", server.end(signal.SIGINT))

    open("socket", "w").close()
    os.unlink("socket")
    server = Server()
    waiting = [server.connect() for _ in range(5)]
    for i, s in enumerate(waiting):
        s.sendall(request("wait", stream=i % 2 == 1))
    server.until("requests", 5)
    os.kill(int(open("engine.pid").read()), signal.SIGKILL)
    print("the engine killed:", *sorted({status(read_all(s)) for s in waiting}), server.end())

    server = Server(engine=GEN + " -j 1")
    print("in turn:", in_turn(server), server.end(signal.SIGTERM, signal.SIGTERM))

    for stage in "fwd", "sample":
        server = Server(engine=GEN)
        victim = child(int(open("engine.pid").read()), stage)
        waiting = [server.connect() for _ in range(6)]
        for s in waiting:
            s.sendall(request("Tell me a story.", ignore_eos=True, n=64))
        server.until("requests", 6)
        os.kill(victim, signal.SIGKILL)
        # 503 to those whose request comes when the engine has gone
        said = {status(read_all(s)) for s in waiting}
        others = [s for s in said if s.split()[1] not in ("500", "503")]
        print(stage, "killed:", *sorted(others) or ["errors"], server.end())

    server = Server()
    server.process.kill()
    server.process.wait()
    end = time.monotonic() + PATIENCE
    while server.engine_runs() and time.monotonic() < end:
        time.sleep(0.01)
    print("killed:", "an orphan" if server.engine_runs() else "the engine ends")
    server = Server()
    print("the same socket:", status(server.get("/v1/models")), server.end(signal.SIGHUP))


try:
    main()
finally:
    for s in Server.all:
        if s.process.poll() is None:
            os.killpg(s.process.pid, signal.SIGKILL)
