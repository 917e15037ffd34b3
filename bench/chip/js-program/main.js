// The same work as the bench's other programs do, on the SDK's own modules.
import WiFi from "embedded:network/interface/wifi";
import flash from "embedded:storage/flash";
import Update from "embedded:update";
import { Attributes, KEYS, Rpc, Telemetry } from "jobs";
import config from "mc/config";
import FFI from "mc/ffi";
import network from "network";
import { Client } from "platform";
import Timer from "timer";

const { version } = config.firmware;
/** Until another rate is asked for. */
const FIRST_MS = 1000;
const natives = new FFI();
let setting;

/** One wake of a device that sleeps: a point, the attributes, a look for RPCs. */
function wake() {
  const client = new Client(network, config);
  const sleep = () => natives.bench_sleep(config.cycle.everyMs / 1000);
  client.request("telemetry", { temperature: 20.5, humidity: 40.5 }, () => {});
  client.request(`attributes?${KEYS}`, undefined, () => {});
  client.request("rpc?timeout=1000", undefined, sleep);
}

function start() {
  const telemetry = new Telemetry(new Client(network, config));
  const methods = {
    echo: (params) => params,
    memory: () => ({
      free: natives.esp_get_free_heap_size(),
      leastFree: natives.esp_get_minimum_free_heap_size(),
      stackLeft: natives.bench_stack_left(),
      engineLeft: natives.bench_engine_left(),
    }),
    points: (params) => {
      telemetry.every(params.ms, params.batch ?? 1, params.durable ?? false);
      return params;
    },
  };
  const changed = (shared) => {
    if (shared.setting !== undefined) setting = shared.setting;
    if (shared.fw_version !== undefined && shared.fw_version !== version) download(shared, telemetry);
  };
  telemetry.post({ current_fw_title: config.firmware.title, current_fw_version: version }, () => {
    // The time is known then.
    if (natives.esp_ota_mark_app_valid_cancel_rollback() === 0 && version !== "1.0.0")
      telemetry.post({ fw_state: "UPDATED" });
    telemetry.restore();
    telemetry.every(FIRST_MS, 1, false);
  });
  new Attributes(new Client(network, config), changed).poll();
  new Rpc(new Client(network, config), methods).poll();
}

function download({ fw_title, fw_version }, telemetry) {
  const report = (fw_state) => telemetry.post({ fw_state });
  report("DOWNLOADING");
  const update = Update.open({ partition: flash.open({ path: "nextota" }) });
  const path = `firmware?title=${fw_title}&version=${fw_version}`;
  const done = (status) => {
    try {
      if (status !== 200) throw new Error("no download");
      report("DOWNLOADED");
      // It judges the image by its chip, and by the SHA-256 at its end.
      update.complete();
      report("VERIFIED");
      report("UPDATING");
      Timer.set(() => natives.esp_restart(), 2000);
    } catch {
      report("FAILED");
    } finally {
      update.close();
    }
  };
  new Client(network, config).request(path, undefined, done, (bytes) => update.write(bytes));
}

export default function main() {
  const wifi = new WiFi({
    onChanged() {
      if (wifi.connection === 500 && setting === undefined) {
        setting = null;
        if (config.cycle) wake();
        else start();
      }
    },
  });
  wifi.connect(config.wifi);
}
