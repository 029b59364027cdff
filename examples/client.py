"""A client of serve in Python, without libraries: python3 client.py URL QUESTION. Prints the answer as it comes."""
import json
import sys
import urllib.request

url, question = sys.argv[1:]
body = {"messages": [{"role": "user", "content": question}], "stream": True, "temperature": 0}
request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(),
                                 {"Content-Type": "application/json"})
with urllib.request.urlopen(request) as response:
    for line in response:
        if line.startswith(b"data: {"):
            event = json.loads(line[6:])
            if "error" in event:
                sys.exit(event["error"]["message"])
            print(event["choices"][0]["delta"].get("content", ""), end="", flush=True)
print()
