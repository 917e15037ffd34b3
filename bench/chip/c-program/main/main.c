#include "esp_sleep.h"
#include "nvs_flash.h"
#include "program.h"

// One wake of a device that sleeps: a point, the attributes, a look for RPCs.
static void wake(void)
{
	Client *client = client_open();
	telemetry_send(client, "{\"temperature\":20.5,\"humidity\":40.5}");
	client_request(client, "attributes?" SHARED_KEYS, NULL);
	client_request(client, "rpc?timeout=1000", NULL);
}

void app_main(void)
{
	esp_err_t error = nvs_flash_init();
	if (error == ESP_ERR_NVS_NO_FREE_PAGES || error == ESP_ERR_NVS_NEW_VERSION_FOUND) {
		ESP_ERROR_CHECK(nvs_flash_erase());
		error = nvs_flash_init();
	}
	ESP_ERROR_CHECK(error);
	network_start();
	if (SLEEP_SECONDS > 0) {
		wake();
		esp_deep_sleep(SLEEP_SECONDS * 1000000ULL);
	}
	telemetry_start();
	attributes_start();
	rpc_start();
}
