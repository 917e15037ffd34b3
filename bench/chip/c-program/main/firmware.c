#include <stdio.h>
#include <string.h>
#include "esp_https_ota.h"
#include "esp_ota_ops.h"
#include "esp_system.h"
#include "program.h"

static void report(Client *client, const char *state)
{
	char json[64];
	snprintf(json, sizeof json, "{\"fw_state\":\"%s\"}", state);
	telemetry_send(client, json);
}

void firmware_runs(Client *client)
{
	esp_ota_img_states_t state;
	const esp_partition_t *running = esp_ota_get_running_partition();
	telemetry_send(client, "{\"current_fw_title\":\"chip\",\"current_fw_version\":\"" FIRMWARE_VERSION "\"}");
	if (esp_ota_get_state_partition(running, &state) != ESP_OK || state != ESP_OTA_IMG_PENDING_VERIFY)
		return;
	esp_ota_mark_app_valid_cancel_rollback();
	report(client, "UPDATED");
}

void firmware_assigned(Client *client, const cJSON *shared)
{
	const cJSON *title = cJSON_GetObjectItemCaseSensitive(shared, "fw_title");
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(shared, "fw_version");
	if (!cJSON_IsString(title) || !cJSON_IsString(version) || !strcmp(version->valuestring, FIRMWARE_VERSION))
		return;
	char url[224];
	snprintf(url, sizeof url, PLATFORM_URL "/api/v1/" ACCESS_TOKEN "/firmware?title=%s&version=%s", title->valuestring, version->valuestring);
	esp_http_client_config_t http = { .url = url, .cert_pem = ca_pem, .timeout_ms = 30000, .keep_alive_enable = true };
	esp_https_ota_config_t ota = { .http_config = &http };
	report(client, "DOWNLOADING");
	// It judges the image by its chip, and by the SHA-256 at its end.
	if (esp_https_ota(&ota) != ESP_OK) {
		report(client, "FAILED");
		return;
	}
	report(client, "DOWNLOADED");
	report(client, "VERIFIED");
	report(client, "UPDATING");
	esp_restart();
}
