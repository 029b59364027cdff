"""Random requests for gen --requests, which start and are cancelled at random times: each answer is the one that gen
gives to the same prompt alone, with the same log-probabilities.

	requests_equal.py BIN SEED N MODEL
"""
import json
import os
import random
import subprocess
import sys
import threading
import time

bin, seed, n, model = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = random.Random(seed)
texts = ["Once upon a time", "The king said", "In a dark forest", "a", "Why is the sky blue?", "{", "I am 7, you",
    "One.\nTwo.\nThree", "caf\u00e9 \u2713", "The the the the", "How many legs does a dog have, and why?"]
tools = [{"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 8}}, "required": ["city"]}}}]
schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["a"],
    "additionalProperties": False}
grammar = 'root ::= " yes" | " no" | " " [a-f]{1,9}'


def run(*words, **how):
    done = subprocess.run([os.path.join(bin, words[0])] + list(words[1:]), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, **how)
    if done.returncode not in (0, 3):
        sys.exit("%s: status %d" % (words, done.returncode))
    return done.stdout


def lines(messages):
    return "".join(json.dumps(m) + "\n" for m in messages).encode()


def options(case):
    """Members of a request, and the same for gen."""
    some, words = {}, []
    for name, option, values in (("temperature", "--temp", (0, 0.5, 1, 1.7)), ("top_k", "--top-k", (1, 5, 0)),
            ("top_p", "--top-p", (0.5, 0.9)), ("min_p", "--min-p", (0, 0.2)),
            ("repeat_penalty", "--repeat-penalty", (1.3,)), ("presence_penalty", "--presence-penalty", (0.5, -1)),
            ("frequency_penalty", "--frequency-penalty", (0.25,)), ("repeat_last_n", "--repeat-last-n", (0, 8, -1))):
        if rng.random() < 0.3:
            some[name] = rng.choice(values)
            words += [option, str(some[name])]
    some["seed"] = rng.randrange(1000)
    some[rng.choice(["max_tokens", "n_predict", "max_completion_tokens"])] = limit = rng.choice([1, 2, 7, 20, 40])
    words += ["-n", str(limit)]
    if rng.random() < 0.15:
        some["logit_bias"] = {"40": -3.5, "41": 2}
        words += ["--logit-bias", "40-3.5", "--logit-bias", "41+2"]
    if rng.random() < 0.1:
        some["ignore_eos"] = True
        words.append("--ignore-eos")
    if rng.random() < 0.3:
        some["stop"] = rng.choice([" the", ["e", "zzz"], [".", "\n"]])
        for s in [some["stop"]] if isinstance(some["stop"], str) else some["stop"]:
            words += ["--stop", s.replace("\n", "\\n")]
    return some, words


def constrain(case, some, words):
    """A grammar or schema, in one request of six."""
    kind = rng.random()
    if kind > 0.16 or case["messages"]:
        return
    if kind < 0.08:
        some["grammar"] = grammar
        words += ["--grammar", grammar]
    else:
        some["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
        words += ["--json-schema", json.dumps(schema)]


def conversation(case, some, words):
    """Messages, and the text that chat makes of them."""
    case["lines"] = lines(case["messages"])
    extra = []
    if rng.random() < 0.3:
        some["tools"] = tools
        with open("tools", "w") as f:
            json.dump(tools, f)
        with open("messages", "wb") as f:
            f.write(case["lines"])
        extra = ["--tools", "tools"]
        choice = rng.choice(["auto", "required"])
        if choice != "auto":
            some["tool_choice"] = choice
        text = run("chat", "--grammar", "--lenient", "--messages", "messages", "--tool-choice", choice, *extra, model)
        name = "grammar.%d" % case["id"]
        with open(name, "wb") as f:
            f.write(text)
        words += ["--grammar-file", name]
    elif rng.random() < 0.2:
        some["json_schema"] = schema
        with open("messages", "wb") as f:
            f.write(case["lines"])
        text = run("chat", "--grammar", "--messages", "messages", "--json-schema", json.dumps(schema), model)
        name = "grammar.%d" % case["id"]
        with open(name, "wb") as f:
            f.write(text)
        words += ["--grammar-file", name]
    case["extra"] = extra
    return run("chat", *extra, model, input=case["lines"]).decode()


def make(i):
    case = {"id": i, "messages": [], "n": 1, "stream": rng.random() < 0.4, "cancel": rng.random() < 0.15}
    if rng.random() < 0.5:
        for k in range(rng.randrange(1, 4)):
            case["messages"].append({"role": "user", "content": rng.choice(texts)})
            case["messages"].append({"role": "assistant", "content": rng.choice(texts)})
        case["messages"].pop()
        if rng.random() < 0.3:
            case["messages"].insert(0, {"role": "system", "content": "Be brief."})
    some, words = options(case)
    constrain(case, some, words)
    case["top"] = rng.choice([None, None, 0, 3])
    if case["messages"]:
        some["messages"] = case["messages"]
        case["prompt"] = conversation(case, some, words)
        words.append("--no-bos")
        if case["top"] is not None:
            some["logprobs"], some["top_logprobs"] = True, case["top"]
    else:
        case["prompt"] = some["prompt"] = rng.choice(texts)
        case["n"] = rng.choice([1, 1, 1, 3])
        if case["n"] > 1:
            some["n"] = case["n"]
        if case["top"] is not None:
            some["logprobs"] = case["top"]
    some["id"] = i
    if case["stream"]:
        some["stream"] = True
    case["request"], case["words"] = some, words
    return case


def alone(case):
    """What gen answers to the prompt of a case, for each of its seeds."""
    case["alone"] = []
    for k in range(case["n"]):
        done = run("gen", "-m", model, "-c", "256", "--json", "--logprobs", str(case["top"] or 0), "-s",
            str(case["request"]["seed"] + k), *case["words"], "-p", case["prompt"])
        case["alone"].append(json.loads(done))
    if not case["messages"] and case["id"] % 4 == 0:
        case["request"]["prompt"] = case["alone"][0]["prompt"]


def parse(case, answer):
    """The message that the ids of an answer make."""
    frames = subprocess.run([os.path.join(bin, "tests", "stream"), "make"] + [str(i) for i in answer["ids"]],
        stdout=subprocess.PIPE).stdout
    text = run("detok", "--marks", model, input=frames)
    stop = case["request"].get("stop", [])
    found = [(text.index(s.encode()) + len(s), -len(s)) for s in ([stop] if isinstance(stop, str) else stop)
        if s.encode() in text]
    if found:
        text = text[:sum(min(found))]
    name = "messages.%d" % case["id"]
    with open(name, "wb") as f:
        f.write(case["lines"])
    return json.loads(run("chat", "--parse", "--messages", name, *case["extra"], model, input=text))


def check(case, got):
    """Complains if the choices of an answer are not those of gen."""
    if "error" in got:
        return "error: %s" % got["error"]
    for k, want in enumerate(case["alone"]):
        have = got["choices"][k]
        cancelled = have["finish_reason"] == "cancelled"
        if cancelled and not case["cancel"]:
            return "cancelled"
        reason = "length" if want["stop_reason"] in ("length", "context") else "stop"
        if case["messages"]:
            message = parse(case, want)
            if not cancelled and have["message"] != message:
                return "message: %s is not %s" % (have["message"], message)
            if not cancelled and have["message"].get("tool_calls") and reason == "stop":
                reason = "tool_calls"
        elif cancelled and not case["stream"] and not want["text"].startswith(have["text"].rstrip("\ufffd")):
            return "text: %r does not begin as %r" % (have["text"], want["text"])
        elif not cancelled and have["text"] != want["text"]:
            return "text: %r is not %r" % (have["text"], want["text"])
        if not cancelled and have["finish_reason"] != reason:
            return "reason: %s is not %s" % (have["finish_reason"], reason)
        if case["top"] is not None and have["logprobs"]:
            if case["messages"]:
                p = [t["logprob"] for t in have["logprobs"]["content"]]
                best = [[t["logprob"] for t in e["top_logprobs"]] for e in have["logprobs"]["content"]]
            else:
                p = have["logprobs"]["token_logprobs"]
                best = [sorted(t.values(), reverse=True) for t in have["logprobs"]["top_logprobs"] or []]
            if p != want["logprobs"][:len(p)] or (not cancelled and "stop" not in case["request"]
                    and len(p) < len(want["logprobs"]) - 1):
                return "log-probabilities: %s is not %s" % (p, want["logprobs"])
            # ids of the same text are one member
            for b, w in zip(best, want["top"]):
                if [x for x in b if x not in [t["logprob"] for t in w]] or (case["messages"] and len(b) != len(w)):
                    return "most likely: %s is not %s" % (b, w)
    if not got.get("cancelled") and "stop" not in case["request"]:
        tokens = sum(a["count"] for a in case["alone"])
        if got["usage"]["completion_tokens"] != tokens and not case["cancel"]:
            return "%d tokens are not %d" % (got["usage"]["completion_tokens"], tokens)
    return None


def merge_delta(message, delta):
    for name in ("role", "content", "reasoning_content"):
        if name in delta:
            message[name] = message.get(name, "") + delta[name]
    for call in delta.get("tool_calls", []):
        calls = message.setdefault("tool_calls", [])
        if call["index"] == len(calls):
            calls.append({"function": {"arguments": ""}})
        to = calls[call["index"]]
        for name in ("id", "type"):
            if name in call:
                to[name] = call[name]
        of = call.get("function", {})
        if "name" in of:
            to["function"] = {"name": of["name"], "arguments": to["function"]["arguments"]}
        to["function"]["arguments"] += of.get("arguments", "")


def merge(parts, case):
    """One answer of the lines of a stream."""
    whole = {"choices": [{"text": "", "message": {}, "logprobs": None, "finish_reason": None}
        for k in range(case["n"])]}
    for part in parts:
        if "error" in part:
            return part
        for c in part["choices"]:
            to = whole["choices"][c["index"]]
            to["text"] += c.get("text", "")
            merge_delta(to["message"], c.get("delta", {}))
            to["finish_reason"] = c["finish_reason"] or to["finish_reason"]
            if c["logprobs"] and to["logprobs"]:
                for name, values in c["logprobs"].items():
                    to["logprobs"][name] = (to["logprobs"][name] or []) + (values or [])
            elif c["logprobs"]:
                to["logprobs"] = c["logprobs"]
        whole["usage"] = part.get("usage")
    for to in whole["choices"]:
        if to["message"].get("tool_calls") and not to["message"].get("content"):
            to["message"]["content"] = None
    return whole


cases = [make(i) for i in range(n)]
for case in cases:
    alone(case)
gen = subprocess.Popen([os.path.join(bin, "gen"), "--requests", "-m", model, "-c", "256", "-j",
    str(rng.choice([3, 16]))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def write():
    for case in cases:
        gen.stdin.write(json.dumps(case["request"]) + "\n")
        gen.stdin.flush()
        if case["cancel"]:
            time.sleep(rng.choice([0, 0.002, 0.02]))
            gen.stdin.write(json.dumps({"cancel": case["id"]}) + "\n")
        elif rng.random() < 0.2:
            time.sleep(0.02)
    gen.stdin.close()


writer = threading.Thread(target=write)
writer.start()
answers, bad = {}, 0
for line in gen.stdout:
    answer = json.loads(line)
    answers.setdefault(answer["id"], []).append(answer)
writer.join()
if gen.wait():
    sys.exit("gen: status %d" % gen.returncode)
for case in cases:
    parts = answers.get(case["id"], [])
    if not parts or sum("usage" in p or "error" in p for p in parts) != 1:
        fault = "%d lines" % len(parts)
    else:
        fault = check(case, merge(parts, case) if case["stream"] else parts[0])
    if fault and bad < 5:
        print("%s: %s: %s" % (model, json.dumps(case["request"]), fault))
    bad += bool(fault)
every = [part for parts in answers.values() for part in parts if "choices" in part]
cached = sum(p["usage"]["prompt_tokens_details"]["cached_tokens"] for p in every if "usage" in p)
stopped = sum(c["finish_reason"] == "cancelled" for p in every for c in p["choices"])
print("%d of %d requests differ, %d choices cancelled, %d tokens not evaluated" % (bad, n, stopped, cached),
    file=sys.stderr)
sys.exit(bool(bad))
