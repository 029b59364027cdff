"""Random requests that continue named segments, among others: each answer, and at the end all bits of each segment, are
those of gen --kv with the same prompts, one after the other.

	requests_kept.py BIN SEED N MODEL PREFIX-OF-NAMES
"""
import json
import os
import random
import subprocess
import sys

bin, seed, n, model, prefix = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
rng = random.Random(seed)
names = [prefix + str(i) for i in range(5)]


def run(*words, **how):
    done = subprocess.run([os.path.join(bin, words[0])] + list(words[1:]), stdout=subprocess.PIPE, **how)
    if done.returncode:
        sys.exit("%s: status %d" % (words, done.returncode))
    return done.stdout


def make(i):
    """A request, which appends to its segment if an earlier one has begun that."""
    text = "".join(rng.choice("abcdefgh ") for _ in range(rng.randrange(1, 60)))
    case = {"id": i, "prompt": text, "max_tokens": rng.choice([0, 1, 2, 5, 17]), "seed": rng.randrange(1000),
        "temperature": rng.choice([0, 0.8, 1.5]), "stream": rng.random() < 0.3}
    if rng.random() < 0.7:
        case["kv"] = rng.choice(names)
        case["append"] = case["kv"] in begun
        begun.add(case["kv"])
    if rng.random() < 0.2:
        case["stop"] = rng.choice("abcde")
    if rng.random() < 0.3:
        case["repeat_penalty"] = 1.3
    return case


def alone(case):
    """The text of gen --kv, in a segment of its own."""
    words = ["gen", "-m", model, "-c", "600", "--kv", case["kv"] + "-alone", "-n", str(case["max_tokens"]), "--temp",
        str(case["temperature"]), "-s", str(case["seed"]), "--json"]
    if case["append"]:
        words.append("--append")
    if "stop" in case:
        words += ["--stop", case["stop"]]
    if "repeat_penalty" in case:
        words += ["--repeat-penalty", "1.3"]
    text = run(*words, case["prompt"])
    return json.loads(text)["text"] if case["max_tokens"] else ""


begun, failed = set(), 0
cases = [make(i) for i in range(n)]
texts = {}
for line in run("gen", "--requests", "-m", model, "-c", "600", "-j", rng.choice(["1", "3", "16"]),
        input="".join(json.dumps(case) + "\n" for case in cases).encode()).splitlines():
    answer = json.loads(line)
    for choice in answer["choices"]:
        texts[answer["id"]] = texts.get(answer["id"], "") + choice["text"]
for case in cases:
    if "kv" in case and alone(case) != texts.get(case["id"]):
        failed = 1
        print("%s: %r" % (case, texts.get(case["id"])))
for name in sorted(begun):
    if run("kv", "save", name) != run("kv", "save", name + "-alone"):
        failed = 1
        print("%s: other bits" % name)
    run("kv", "rm", name, name + "-alone")
sys.exit(failed)
