"""A study, and a crowd that sorts it, over the API: python crowd.py http://127.0.0.1:8000"""

import json
import os
import sys
import time
import urllib.request

SERVER = sys.argv[1]
TOKEN = os.environ["CONSILIENCE_TOKEN"]


def call(method, path, body=None):
    """Send a request with JSON, and return the JSON of the answer."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{SERVER}/api/v1{path}", data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


items = [{"name": str(number)} for number in range(1, 13)]
study = call("POST", "/studies", {"title": "Numbers", "items": items, "settings": {"subset_size": 6}})["id"]
call("POST", f"/studies/{study}/open")

for _ in range(10):
    person = call("POST", f"/studies/{study}/participants", {})["id"]
    subset = call("POST", f"/studies/{study}/participants/{person}/subset")["subset"]
    names = [item["name"] for item in subset["items"]]
    odd = [name for name in names if int(name) % 2]
    even = [name for name in names if not int(name) % 2]
    groups = [{"items": group} for group in (odd, even) if group]
    call("PUT", f"/studies/{study}/assignments/{subset['assignment']}/grouping", {"groups": groups})

found = None
while found is None or found["n_groupings"] < 10:  # it is computed within seconds
    time.sleep(1)
    found = call("GET", f"/studies/{study}/consensus")["consensus"]
for cluster in found["clusters"]:
    print(*[items[number]["name"] for number in cluster["items"]])
