"""What the scripts of all clients have in common: a line for each call, and the device at the other end."""
import json
import sys
import urllib.request

URL, TOKEN = sys.argv[1], sys.argv[2]


def call(name, run, check=lambda answer: True):
    answer = run()
    if not check(answer):
        raise AssertionError(f"{name}: {answer}")
    print(f"ok {name}", flush=True)
    return answer


def device_posts(path, body):
    request = urllib.request.Request(f"{URL}/api/v1/{TOKEN}/{path}", body.encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=20).read()


def answer_rpc():
    """The device: takes one RPC and answers it."""
    with urllib.request.urlopen(f"{URL}/api/v1/{TOKEN}/rpc?timeout=15000", timeout=30) as poll:
        rpc = json.load(poll)
    device_posts(f"rpc/{rpc['id']}", '{"done":true}')
