"""Every call that an operator of devices makes, by the platform's official client. A line for each; exits with 1 at the first that fails."""
import tempfile
import threading
import time
import urllib.request

from tb_rest_client.models.models_ce import (
    Device, DeviceProfile, DeviceProfileId, DeviceProfileData, EntityId,
    OtaPackageId, SaveOtaPackageInfoRequest,
)
from tb_rest_client.rest_client_ce import RestClientCE

from calls import TOKEN, URL, answer_rpc, call, device_posts


def read(client, path):
    """A query that is spelt in its own way: as Spring reads booleans."""
    import json
    token = client.token_info["token"]
    request = urllib.request.Request(URL + path, headers={"X-Authorization": f"Bearer {token}"})
    return json.load(urllib.request.urlopen(request, timeout=20))


def main():
    c = RestClientCE(base_url=URL)
    call("login", lambda: c.login(username="tenant@thingsboard.org", password="tenant"))
    call("refresh", c.refresh)
    call("get_user", c.get_user, lambda user: user.authority == "TENANT_ADMIN")
    profiles = call("get_device_profiles", lambda: c.get_device_profiles(page_size=10, page=0), lambda p: p.total_elements > 0)
    profile_id = next(one.id for one in profiles.data if one.default)
    call("get_device_profile_by_id", lambda: c.get_device_profile_by_id(profile_id), lambda p: p.name == "default")

    device = call("save_device", lambda: c.save_device(body=Device(name="client", device_profile_id=profile_id), access_token=TOKEN))
    call("get_device_by_id", lambda: c.get_device_by_id(device.id), lambda d: d.name == "client")
    call("get_device_info_by_id", lambda: c.get_device_info_by_id(device.id), lambda d: d.device_profile_name == "default")
    call("get_tenant_device", lambda: c.get_tenant_device("client"), lambda d: d.id.id == device.id.id)
    call("get_tenant_devices", lambda: c.get_tenant_devices(page_size=10, page=0), lambda p: p.total_elements >= 1)
    call("get_tenant_device_infos", lambda: c.get_tenant_device_infos(page_size=10, page=0), lambda p: p.total_elements >= 1)
    credentials = call("get_device_credentials_by_device_id", lambda: c.get_device_credentials_by_device_id(device.id), lambda x: x.credentials_id == TOKEN)
    call("update_device_credentials", lambda: c.update_device_credentials(body=credentials), lambda x: x.credentials_id == TOKEN)

    entity = EntityId(device.id.id, "DEVICE")
    call("save_device_attributes (server)", lambda: c.save_device_attributes(device.id, "SERVER_SCOPE", {"s": 1}))
    call("save_entity_attributes_v2 (shared)", lambda: c.save_entity_attributes_v2(entity, "SHARED_SCOPE", {"a": True}))
    call("save_entity_attributes_v1 (shared)", lambda: c.save_entity_attributes_v1(entity, "SHARED_SCOPE", {"b": "x"}))
    device_posts("attributes", '{"c":1.5}')
    for scope, keys in (("SERVER_SCOPE", {"s"}), ("SHARED_SCOPE", {"a", "b"}), ("CLIENT_SCOPE", {"c"})):
        call(f"get_attributes_by_scope ({scope})", lambda: c.get_attributes_by_scope(entity, scope), lambda found: keys <= {one["key"] for one in found})
        call(f"get_attribute_keys_by_scope ({scope})", lambda: c.get_attribute_keys_by_scope(entity, scope), lambda found: keys <= set(found))
    call("get_attributes", lambda: c.get_attributes(entity), lambda found: len(found) >= 4)
    call("get_attribute_keys", lambda: c.get_attribute_keys(entity), lambda found: len(found) >= 4)
    call("delete_entity_attributes", lambda: c.delete_entity_attributes(entity, "SHARED_SCOPE", "a"))
    call("delete_device_attributes", lambda: c.delete_device_attributes(device.id, "SHARED_SCOPE", "b"))

    call("save_entity_telemetry", lambda: c.save_entity_telemetry(entity, "ANY", {"ts": 1000, "values": {"t": 1}}))
    device_posts("telemetry", '[{"ts":2000,"values":{"t":2}},{"ts":3000,"values":{"t":6}}]')
    call("get_timeseries_keys_v1", lambda: c.get_timeseries_keys_v1(entity), lambda keys: keys == ["t"])
    call("get_latest_timeseries", lambda: c.get_latest_timeseries(entity, keys="t", use_strict_data_types=True), lambda found: found["t"][0]["value"] == 6)
    call("get_timeseries", lambda: c.get_timeseries(entity, "t", 0, 10000, limit=2, order_by="ASC", use_strict_data_types=True),
         lambda found: [one["value"] for one in found["t"]] == [1, 2])
    for order, values in (("ASC", [1, 2]), ("DESC", [6, 2])):
        call(f"get_timeseries (NONE, limit 2, {order})", lambda: c.get_timeseries(entity, "t", 0, 10000, agg="NONE", limit=2, order_by=order, use_strict_data_types=True),
             lambda found: [one["value"] for one in found["t"]] == values)
    call("get_timeseries (MAX, two intervals)", lambda: c.get_timeseries(entity, "t", 0, 5000, interval=2500, agg="MAX", use_strict_data_types=True),
         lambda found: sorted((one["ts"], one["value"]) for one in found["t"]) == [(1250, 2), (3750, 6)])
    for spelt in ("True", "true", "1", "on", "yes"):
        call(f"useStrictDataTypes={spelt}", lambda: read(c, f"/api/plugins/telemetry/DEVICE/{device.id.id}/values/timeseries?keys=t&useStrictDataTypes={spelt}"),
             lambda found: found["t"][0]["value"] == 6)
    for spelt in ("False", "0", "off", "no"):
        call(f"useStrictDataTypes={spelt}", lambda: read(c, f"/api/plugins/telemetry/DEVICE/{device.id.id}/values/timeseries?keys=t&useStrictDataTypes={spelt}"),
             lambda found: found["t"][0]["value"] == "6")
    for agg, value in (("MIN", 1), ("MAX", 6), ("AVG", 3), ("SUM", 9), ("COUNT", 3)):
        call(f"get_timeseries ({agg})", lambda: c.get_timeseries(entity, "t", 0, 10000, interval=10000, agg=agg, use_strict_data_types=True),
             lambda found: [(one["ts"], one["value"]) for one in found["t"]] == [(5000, value)])
    call("delete_entity_timeseries", lambda: c.delete_entity_timeseries(entity, keys="t", delete_all_data_for_keys=True))
    call("get_timeseries (after deletion)", lambda: c.get_timeseries(entity, "t", 0, 10000), lambda found: not found)

    rpc = {"method": "set", "params": {"on": True}, "timeout": 15000}
    threading.Thread(target=answer_rpc).start()
    call("handle_two_way_device_rpc_request", lambda: c.handle_two_way_device_rpc_request(device.id, rpc), lambda answer: answer == {"done": True})
    threading.Thread(target=answer_rpc).start()
    time.sleep(0.5)
    call("handle_one_way_device_rpc_request", lambda: c.handle_one_way_device_rpc_request(device.id, rpc))
    call("handle_one_way_device_rpc_request (persistent)", lambda: c.handle_one_way_device_rpc_request(device.id, {**rpc, "persistent": True}))
    stored = call("handle_two_way_device_rpc_request (persistent)", lambda: c.handle_two_way_device_rpc_request(device.id, {**rpc, "persistent": True}), lambda answer: "rpcId" in answer)
    call("get_persisted_rpc_by_device", lambda: c.get_persisted_rpc_by_device(device.id, page_size=10, page=0))
    rpc_id = type("RpcId", (), {"id": stored["rpcId"], "entity_type": "RPC"})()
    call("get_persisted_rpc", lambda: c.get_persisted_rpc(rpc_id))
    call("delete_rpc", lambda: c.delete_rpc(rpc_id))

    package = call("save_ota_package_info", lambda: c.save_ota_package_info(body=SaveOtaPackageInfoRequest(
        title="image", version="1", type="FIRMWARE", device_profile_id=profile_id, uses_url=False)))
    package_id = OtaPackageId(package.id.id, "OTA_PACKAGE")
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"image of the client")
        file.flush()
        call("save_ota_package_data", lambda: c.save_ota_package_data(package_id, checksum_algorithm="SHA256", file=file.name), lambda p: p.has_data)
    call("get_ota_package_info_by_id", lambda: c.get_ota_package_info_by_id(package_id), lambda p: p.data_size == 19)
    call("get_ota_packages_v1", lambda: c.get_ota_packages_v1(profile_id, "FIRMWARE", page_size=10, page=0), lambda p: p.total_elements >= 1)
    call("get_ota_packages", lambda: c.get_ota_packages(page_size=10, page=0), lambda p: p.total_elements >= 1)
    current = c.get_device_by_id(device.id)
    current.firmware_id = package_id
    call("save_device (assigned)", lambda: c.save_device(body=current), lambda d: d.firmware_id.id == package_id.id)
    current = c.get_device_by_id(device.id)
    current.firmware_id = None
    call("save_device (unassigned)", lambda: c.save_device(body=current), lambda d: d.firmware_id is None)
    call("delete_ota_package", lambda: c.delete_ota_package(package_id))

    call("claim_device", lambda: c.claim_device(TOKEN, {"secretKey": "mine"}))
    call("delete_device (last)", lambda: c.delete_device(device.id))


main()
