// The network of an emulated chip: QEMU's OpenCores Ethernet (open_eth) instead of Wi-Fi.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "esp_eth.h"
#include "esp_eth_netif_glue.h"
#include "esp_event.h"
#include "esp_netif.h"
#include "esp_system.h"
#include "esp_wifi.h"

// The numbers of the SDK's Wi-Fi.
enum { OFF = 200, LINKED = 400, ADDRESSED = 500 };

static esp_eth_handle_t ethernet;
static esp_netif_t *netif;
static volatile bool unplugged;
static volatile uint32_t state = OFF;

static void changed(void *refcon, esp_event_base_t base, int32_t event, void *data)
{
	if (base == IP_EVENT && event == IP_EVENT_ETH_GOT_IP)
		state = ADDRESSED;
	else if (base == ETH_EVENT)
		state = event == ETHERNET_EVENT_CONNECTED ? LINKED : OFF;
}

/** Drops received frames while the network is unplugged. */
static esp_err_t receive(esp_eth_handle_t ethernet, uint8_t *frame, uint32_t length, void *unused)
{
	if (!unplugged)
		return esp_netif_receive(netif, frame, length, NULL);
	free(frame);
	return ESP_OK;
}

// Stops the device's memory access at a restart. It would continue after a soft reset, and write
// into the next program's memory. A real chip resets its network itself.
static void stop(void)
{
	esp_eth_stop(ethernet);
}

/** Starts the network once; it reconnects by itself. Returns 0 or ESP-IDF's error. */
int32_t mote_ethernet_start(void)
{
	if (ethernet)
		return 0;
	esp_netif_init();
	esp_event_loop_create_default();
	eth_mac_config_t mac = ETH_MAC_DEFAULT_CONFIG();
	eth_phy_config_t phy = ETH_PHY_DEFAULT_CONFIG();
	phy.autonego_timeout_ms = 100;
	esp_eth_config_t driver = ETH_DEFAULT_CONFIG(esp_eth_mac_new_openeth(&mac), esp_eth_phy_new_generic(&phy));
	esp_err_t error = esp_eth_driver_install(&driver, &ethernet);
	if (ESP_OK != error)
		return error;
	esp_netif_config_t config = ESP_NETIF_DEFAULT_ETH();
	netif = esp_netif_new(&config);
	esp_netif_attach(netif, esp_eth_new_netif_glue(ethernet));
	esp_eth_update_input_path(ethernet, receive, NULL);
	esp_event_handler_register(ETH_EVENT, ESP_EVENT_ANY_ID, changed, NULL);
	esp_event_handler_register(IP_EVENT, IP_EVENT_ETH_GOT_IP, changed, NULL);
	esp_register_shutdown_handler(stop);
	return esp_eth_start(ethernet);
}

/**
 * 0 unplugs the network, like a lost access point; 1 plugs it in. The driver keeps running, because
 * after a restart it reads a frame only after six more have arrived.
 */
int32_t mote_ethernet_plug(uint32_t in)
{
	unplugged = !in;
	if (in) {
		state = LINKED;
		esp_netif_action_connected(netif, NULL, 0, NULL);
	} else {
		esp_netif_action_disconnected(netif, NULL, 0, NULL);
		state = OFF;
	}
	return 0;
}

uint32_t mote_ethernet_state(void)
{
	return state;
}

// Functions of Wi-Fi that the SDK calls. Without these, all of Wi-Fi would be linked.
esp_err_t esp_wifi_get_mode(wifi_mode_t *mode) { return ESP_ERR_WIFI_NOT_INIT; }
esp_err_t esp_wifi_sta_get_ap_info(wifi_ap_record_t *record) { return ESP_ERR_WIFI_NOT_INIT; }
esp_err_t esp_wifi_get_channel(uint8_t *primary, wifi_second_chan_t *second) { return ESP_ERR_WIFI_NOT_INIT; }
