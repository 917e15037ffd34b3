// The emulated chip's Ethernet, as ESP-IDF's example_connect sets it up.
#include "esp_eth.h"
#include "esp_event.h"
#include "esp_netif.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"
#include "program.h"

static SemaphoreHandle_t addressed;

static void got_address(void *context, esp_event_base_t base, int32_t event, void *data)
{
	xSemaphoreGive(addressed);
}

void network_start(void)
{
	addressed = xSemaphoreCreateBinary();
	ESP_ERROR_CHECK(esp_netif_init());
	ESP_ERROR_CHECK(esp_event_loop_create_default());
	esp_netif_config_t config = ESP_NETIF_DEFAULT_ETH();
	esp_netif_t *netif = esp_netif_new(&config);
	eth_mac_config_t mac = ETH_MAC_DEFAULT_CONFIG();
	eth_phy_config_t phy = ETH_PHY_DEFAULT_CONFIG();
	phy.autonego_timeout_ms = 100;
	esp_eth_config_t driver = ETH_DEFAULT_CONFIG(esp_eth_mac_new_openeth(&mac), esp_eth_phy_new_generic(&phy));
	esp_eth_handle_t ethernet;
	ESP_ERROR_CHECK(esp_eth_driver_install(&driver, &ethernet));
	ESP_ERROR_CHECK(esp_netif_attach(netif, esp_eth_new_netif_glue(ethernet)));
	ESP_ERROR_CHECK(esp_event_handler_register(IP_EVENT, IP_EVENT_ETH_GOT_IP, got_address, NULL));
	ESP_ERROR_CHECK(esp_eth_start(ethernet));
	xSemaphoreTake(addressed, portMAX_DELAY);
}
