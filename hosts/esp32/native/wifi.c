// Functions that the SDK's Wi-Fi lacks: an access point beside the station, and the reason of a
// failed join. Create the SDK's Wi-Fi first.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "driver/uart.h"
#include "hal/uart_ll.h"
#include "esp_event.h"
#include "esp_log.h"
#include "esp_netif.h"
#include "esp_wifi.h"
#include "sdkconfig.h"
#include "mc.defines.h"

#if MODDEF_MOTE_EMULATED
// The emulator has no radio.
int32_t mote_wifi_reason(void) { return 0; }
esp_err_t mote_ap_open(char *ssid, char *password) { return ESP_ERR_NOT_SUPPORTED; }
esp_err_t mote_ap_close(void) { return ESP_ERR_NOT_SUPPORTED; }
int32_t mote_ap_overlaps(void) { return 0; }
#else
static const char *const TAG = "mote_wifi";
static esp_netif_t *access_point;
static volatile int32_t last_reason;
static bool is_watched;

static void disconnected(void *refcon, esp_event_base_t base, int32_t event, void *data)
{
	last_reason = ((wifi_event_sta_disconnected_t *)data)->reason;
}

/**
 * The reason of the last lost network or failed join since the last call, as wifi_err_reason_t; 0:
 * none. Call it once before the first join, which starts the recording of reasons.
 */
int32_t mote_wifi_reason(void)
{
	int32_t reason = last_reason;
	if (!is_watched)
		is_watched = ESP_OK == esp_event_handler_register(WIFI_EVENT, WIFI_EVENT_STA_DISCONNECTED, disconnected, NULL);
	last_reason = 0;
	return reason;
}

/**
 * Opens an access point at 192.168.4.1 with ESP-IDF's DHCP server. `password`: empty for none, or 8
 * to 63 bytes.
 */
esp_err_t mote_ap_open(char *ssid, char *password)
{
	wifi_config_t config = {0};
	size_t name = strlen(ssid), secret = strlen(password);

	if (!name || name > sizeof(config.ap.ssid) || secret >= sizeof(config.ap.password) || (secret && secret < 8))
		return ESP_ERR_INVALID_ARG;
	memcpy(config.ap.ssid, ssid, name);
	memcpy(config.ap.password, password, secret);
	config.ap.ssid_len = (uint8_t)name;
	config.ap.authmode = secret ? WIFI_AUTH_WPA2_PSK : WIFI_AUTH_OPEN;
	config.ap.channel = 1;
	config.ap.max_connection = 2;
	config.ap.beacon_interval = 100;

	if (!access_point)
		access_point = esp_netif_create_default_wifi_ap();
	if (!access_point)
		return ESP_ERR_NO_MEM;
	esp_err_t error = esp_wifi_set_mode(WIFI_MODE_APSTA);
	if (error != ESP_OK) {
		ESP_LOGE(TAG, "access point: %s", esp_err_to_name(error));
		return error;
	}
	error = esp_wifi_set_config(WIFI_IF_AP, &config);
	if (error != ESP_OK) {
		ESP_LOGE(TAG, "access point: %s", esp_err_to_name(error));
		esp_wifi_set_mode(WIFI_MODE_STA);
	}
	return error;
}

/** Closes the access point, but not the station. */
esp_err_t mote_ap_close(void)
{
	return esp_wifi_set_mode(WIFI_MODE_STA);
}

/** 1 if the joined network contains the access point's address. */
int32_t mote_ap_overlaps(void)
{
	esp_netif_ip_info_t own, joined;
	esp_netif_t *station = esp_netif_get_handle_from_ifkey("WIFI_STA_DEF");

	if (!access_point || ESP_OK != esp_netif_get_ip_info(access_point, &own))
		return 0;
	if (!station || ESP_OK != esp_netif_get_ip_info(station, &joined) || !joined.ip.addr)
		return 0;
	return ((own.ip.addr ^ joined.ip.addr) & joined.netmask.addr) == 0;
}
#endif

/** ESP-IDF's number of the chip that the image was built for. */
uint32_t mote_chip(void)
{
	return CONFIG_IDF_FIRMWARE_CHIP_ID;
}

/**
 * Disables the interrupts of the first serial line, which are on when the program starts. The SDK's
 * Serial registers its handler before its listener: an early byte would call it forever.
 */
static void __attribute__((constructor)) quiet_serial(void)
{
	uart_ll_disable_intr_mask(UART_LL_GET_HW(UART_NUM_0), UINT32_MAX);
}

/**
 * Sends `count` bytes, 64 at most, over the first serial line. Waits until all are accepted, so
 * that no log line of this task gets between them.
 */
void mote_serial_send(uint8_t *from, uint32_t count)
{
	while (count > 0) {
		uint32_t room = uart_ll_get_txfifo_len(UART_LL_GET_HW(UART_NUM_0));
		if (room > count)
			room = count;
		uart_ll_write_txfifo(UART_LL_GET_HW(UART_NUM_0), from, room);
		from += room;
		count -= room;
	}
}
