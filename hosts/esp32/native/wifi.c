// What the SDK's Wi-Fi leaves out: an access point beside the station, and why a network was not joined. The SDK's is made first, always.
#include <stdint.h>
#include <string.h>
#include "driver/uart.h"
#include "hal/uart_ll.h"
#include "esp_event.h"
#include "esp_netif.h"
#include "esp_wifi.h"
#include "sdkconfig.h"
#include "mc.defines.h"

#if MODDEF_MOTE_EMULATED
// The emulator has no radio.
int32_t mote_wifi_reason(void) { return 0; }
int32_t mote_ap_open(char *ssid, char *password) { return -1; }
int32_t mote_ap_close(void) { return -1; }
#else
static esp_netif_t *gAccessPoint;
static volatile int32_t gReason;
static uint8_t gWatched;

static void disconnected(void *refcon, esp_event_base_t base, int32_t event, void *data)
{
	gReason = ((wifi_event_sta_disconnected_t *)data)->reason;
}

/** Why the station could not join, or lost, its network since the last call: wifi_err_reason_t; 0 for nothing. To be called before the first join too. */
int32_t mote_wifi_reason(void)
{
	int32_t reason = gReason;
	if (!gWatched)
		gWatched = ESP_OK == esp_event_handler_register(WIFI_EVENT, WIFI_EVENT_STA_DISCONNECTED, disconnected, NULL);
	gReason = 0;
	return reason;
}

/** Opens an access point at 192.168.4.1, with ESP-IDF's own DHCP server. 0 if it is open. `password`: empty for none, or 8 to 63 bytes. */
int32_t mote_ap_open(char *ssid, char *password)
{
	wifi_config_t config = {0};
	size_t name = strlen(ssid), secret = strlen(password);

	if (!name || name > sizeof(config.ap.ssid) || secret >= sizeof(config.ap.password) || (secret && secret < 8))
		return -1;
	memcpy(config.ap.ssid, ssid, name);
	memcpy(config.ap.password, password, secret);
	config.ap.ssid_len = (uint8_t)name;
	config.ap.authmode = secret ? WIFI_AUTH_WPA2_PSK : WIFI_AUTH_OPEN;
	config.ap.channel = 1;
	config.ap.max_connection = 2;
	config.ap.beacon_interval = 100;

	if (!gAccessPoint)
		gAccessPoint = esp_netif_create_default_wifi_ap();
	if (!gAccessPoint || ESP_OK != esp_wifi_set_mode(WIFI_MODE_APSTA))
		return -1;
	if (ESP_OK == esp_wifi_set_config(WIFI_IF_AP, &config))
		return 0;
	esp_wifi_set_mode(WIFI_MODE_STA);
	return -1;
}

/** Closes it; the station stays. */
int32_t mote_ap_close(void)
{
	return ESP_OK == esp_wifi_set_mode(WIFI_MODE_STA) ? 0 : -1;
}
#endif

/** Which chip the image is for, as ESP-IDF numbers them. */
uint32_t mote_chip(void)
{
	return CONFIG_IDF_FIRMWARE_CHIP_ID;
}

/**
 * Interrupts of this line are on when the program starts. The SDK's Serial registers its handler before it says who listens: for a byte that came before, the
 * handler would be called for ever.
 */
static void __attribute__((constructor)) quietSerial(void)
{
	uart_ll_disable_intr_mask(UART_LL_GET_HW(UART_NUM_0), UINT32_MAX);
}

/** Has the first serial line send XOFF and XON by itself: its buffer of 128 bytes is full after 11 ms of 115,200 baud. 0, or the error of ESP-IDF. */
int32_t mote_serial_flow(void)
{
	return uart_set_sw_flow_ctrl(UART_NUM_0, true, 16, 64);
}

/** Sends `count` bytes, 64 at most, by the first serial line, and waits until it has taken them: nothing that this task logs gets between them. */
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
