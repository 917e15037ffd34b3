"""Every method of the official HTTP device. A line for each; exits with 1 at the first that fails, or if one was not called."""
import inspect
import logging
import sys
import time
from datetime import datetime

from tb_device_http import TBHTTPDevice

import calls

URL, TOKEN, KEY, SECRET = sys.argv[1:5]
called = set()


def call(name, run, check=lambda answer: True):
    answer = calls.call(name, run, check)
    called.add(name.split(" ")[0])
    return answer


def set_property(device, name, value):
    setattr(device, name, value)
    return getattr(device, name)


def main():
    device = TBHTTPDevice(URL, TOKEN, name="by-name", chunk_size=7)
    call("host", lambda: device.host, lambda host: host in URL)
    call("token", lambda: device.token, lambda token: token == TOKEN)
    call("name", lambda: device.name, lambda name: name == "by-name")
    call("api_base_url", lambda: device.api_base_url, lambda url: TOKEN in url)
    call("logger", lambda: device.logger)
    call("log_level", lambda: set_property(device, "log_level", logging.ERROR))
    call("timeout", lambda: device.timeout, lambda timeout: timeout > 0)
    call("test_connection", device.test_connection)
    call("connect", device.connect, lambda answer: answer is True)
    # What connect() begins.
    called.add("start_publish_worker")
    call("send_telemetry", lambda: device.send_telemetry({"t": 1}, queued=False))
    call("send_telemetry (a time of its own)", lambda: device.send_telemetry({"t": 3}, timestamp=datetime.fromtimestamp(1_760_000_000), queued=False))
    call("send_telemetry (queued)", lambda: device.send_telemetry({"t": 2}))
    time.sleep(0.5)
    call("stop_publish_worker", device.stop_publish_worker)
    call("send_attributes", lambda: device.send_attributes({"c": 1}))
    # It misspells its parameters, and so gets all there are.
    call("request_attributes", lambda: device.request_attributes(client_keys=["c"], shared_keys=["fw_title"]),
         lambda answer: answer["client"] == {"c": 1} and answer["shared"]["fw_title"] == "image-of-clients")
    heard = []
    call("subscribe (attributes)", lambda: device.subscribe("attributes", heard.append))
    call("subscribe (rpc)", lambda: device.subscribe("rpc", heard.append))
    call("unsubscribe (attributes)", lambda: device.unsubscribe("attributes"))
    call("unsubscribe (rpc)", lambda: device.unsubscribe("rpc"))
    call("send_rpc (answer)", lambda: device.send_rpc(name="rpcResponse", params={"x": 1}, rpc_id=5))
    call("send_rpc (call)", lambda: device.send_rpc(name="getTime", params={}), lambda answer: "time" in answer)
    # It writes the image where it stands, in pieces of 7 bytes.
    call("get_firmware_update", device.get_firmware_update)
    with open("image-of-clients", "rb") as file:
        call("get_firmware_update (the file)", file.read, lambda image: image == b"image of the clients")
    call("provision", lambda: TBHTTPDevice.provision(URL, "by-client", KEY, SECRET), lambda answer: isinstance(answer, TBHTTPDevice))
    missed = {name for name, _ in inspect.getmembers(TBHTTPDevice) if not name.startswith("_")} - called
    if missed:
        raise AssertionError(f"never called: {missed}")


main()
