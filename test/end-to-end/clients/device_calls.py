"""Every method of the official HTTP device. A line for each; exits with 1 at the first that fails."""
import sys

import time

from tb_device_http import TBHTTPDevice

URL, TOKEN, KEY, SECRET = sys.argv[1:5]


def call(name, run, check=lambda answer: True):
    answer = run()
    if not check(answer):
        raise AssertionError(f"{name}: {answer}")
    print(f"ok {name}", flush=True)
    return answer


def main():
    device = TBHTTPDevice(URL, TOKEN)
    call("test_connection", device.test_connection)
    call("connect", device.connect, lambda answer: answer is True)
    call("send_telemetry", lambda: device.send_telemetry({"t": 1}, queued=False))
    call("send_telemetry (queued)", lambda: device.send_telemetry({"t": 2}))
    time.sleep(0.5)
    call("stop_publish_worker", device.stop_publish_worker)
    call("send_attributes", lambda: device.send_attributes({"c": 1}))
    call("request_attributes", lambda: device.request_attributes(client_keys=["c"]), lambda answer: answer["client"] == {"c": 1})
    heard = []
    call("subscribe (attributes)", lambda: device.subscribe("attributes", heard.append))
    call("subscribe (rpc)", lambda: device.subscribe("rpc", heard.append))
    call("unsubscribe (attributes)", lambda: device.unsubscribe("attributes"))
    call("unsubscribe (rpc)", lambda: device.unsubscribe("rpc"))
    call("send_rpc (answer)", lambda: device.send_rpc(name="rpcResponse", params={"x": 1}, rpc_id=5))
    call("provision", lambda: TBHTTPDevice.provision(URL, "by-client", KEY, SECRET), lambda answer: isinstance(answer, TBHTTPDevice))



main()
