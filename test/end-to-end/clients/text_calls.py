"""What the 4.4 client does otherwise: it posts JSON as text, and a package's algorithm in the query. Claims too, which it makes by name."""
import tempfile
import threading

from tb_rest_client.models import ClaimRequest, Device, EntityId
from tb_rest_client.rest_client import RestClient

from calls import TOKEN, URL, answer_rpc, call, device_posts


def sent_as(client, expected):
    """Looks at what the client really sends: another version of it would prove nothing here."""
    rest = client.api_client.rest_client
    before = rest.request

    def request(method, url, *args, **kwargs):
        if method in ("POST", "PUT") and "/auth/" not in url:
            expected.append(((kwargs.get("headers") or {}).get("Content-Type"), url))
        return before(method, url, *args, **kwargs)

    rest.request = request


def main():
    c = RestClient(URL)
    call("login", lambda: c.login("tenant@thingsboard.org", "tenant"))
    sent = []
    sent_as(c, sent)
    device = call("save_device", lambda: c.save_device(body=Device(name="by-text", type="default"), access_token=TOKEN))
    entity = EntityId(entity_type="DEVICE", id=device.id.id)
    for scope in ("SERVER_SCOPE", "SHARED_SCOPE"):
        call(f"save_device_attributes ({scope})", lambda: c.save_device_attributes(device.id, scope, '{"a":true}'))
        call(f"save_entity_attributes_v1 ({scope})", lambda: c.save_entity_attributes_v1(entity, scope, '{"b":2}'))
        call(f"save_entity_attributes_v2 ({scope})", lambda: c.save_entity_attributes_v2(entity, scope, '{"c":"x"}'))
        call(f"get_attributes_by_scope ({scope})", lambda: c.get_attributes_by_scope(entity, scope),
             lambda found: {one.key: one.value for one in found}.items() >= {"a": True, "b": 2, "c": "x"}.items())
    call("save_entity_telemetry", lambda: c.save_entity_telemetry(entity, "ANY", '{"ts":1000,"values":{"t":1}}'))
    call("get_latest_timeseries", lambda: c.get_latest_timeseries(entity, keys="t", use_strict_data_types=True), lambda found: "t" in str(found))
    rpc = '{"method":"set","params":{"on":true},"timeout":15000}'
    threading.Thread(target=answer_rpc).start()
    call("handle_two_way_device_rpc_request_v2", lambda: c.rpc_v2_controller.handle_two_way_device_rpc_request_v2(rpc, device.id.id),
         lambda answer: "done" in str(answer))
    as_text = [url for kind, url in sent if kind and kind.startswith("text/plain")]
    call("sent as text/plain", lambda: as_text, lambda urls: len(urls) >= 3)

    package = call("save_ota_package_info", lambda: c.save_ota_package_info(
        {"title": "text", "version": "1", "type": "FIRMWARE", "usesUrl": False, "deviceProfileId": {"entityType": "DEVICE_PROFILE", "id": device.device_profile_id.id}}))
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"image of the client")
        file.flush()
        call("save_ota_package_data (query)", lambda: c.save_ota_package_data(package.id, "SHA256", file.name), lambda p: p.has_data)
    call("sent in the query", lambda: [url for _, url in sent if "otaPackage" in url])
    call("delete_ota_package", lambda: c.delete_ota_package(package.id))

    customer = RestClient(URL)
    customer.login("customer@thingsboard.org", "customer")
    device_posts("claim", '{"secretKey":"mine","durationMs":60000}')
    call("claim_device_by_name", lambda: customer.claim_device_by_name("by-text", ClaimRequest(secret_key="mine")))
    call("get_device_by_id (claimed)", lambda: c.get_device_by_id(device.id), lambda d: d.customer_id.id != "13814000-1dd2-11b2-8080-808080808080")
    call("re_claim_device", lambda: customer.re_claim_device("by-text"))
    call("delete_device", lambda: c.delete_device(device.id))


main()
