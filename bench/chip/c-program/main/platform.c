#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <time.h>
#include "esp_random.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "program.h"

// Longer than the platform keeps a poll open.
#define TIMEOUT_MS 35000
#define LONGEST_WAIT_MS 60000

// There is no time server on the emulated network: the platform says what time it is.
static void set_time(const char *date)
{
	struct tm parts = {0};
	if (time(NULL) > 1600000000 || !strptime(date, "%a, %d %b %Y %H:%M:%S", &parts))
		return;
	struct timeval now = { .tv_sec = mktime(&parts) };
	settimeofday(&now, NULL);
}

static esp_err_t on_event(esp_http_client_event_t *event)
{
	Client *client = event->user_data;
	if (event->event_id == HTTP_EVENT_ON_HEADER && !strcasecmp(event->header_key, "Date"))
		set_time(event->header_value);
	else if (event->event_id == HTTP_EVENT_ON_DATA) {
		int room = BODY_BYTES - 1 - client->length;
		int count = event->data_len < room ? event->data_len : room;
		memcpy(client->body + client->length, event->data, count);
		client->length += count;
	}
	return ESP_OK;
}

Client *client_open(void)
{
	Client *client = calloc(1, sizeof(Client));
	esp_http_client_config_t config = {
		.url = PLATFORM_URL,
		.timeout_ms = TIMEOUT_MS,
		.event_handler = on_event,
		.user_data = client,
		.keep_alive_enable = true,
		.cert_pem = ca_pem,
		.save_client_session = !strncmp(PLATFORM_URL, "https", 5),
	};
	client->http = esp_http_client_init(&config);
	return client;
}

int client_request(Client *client, const char *path, const char *body)
{
	char url[192];
	snprintf(url, sizeof url, PLATFORM_URL "/api/v1/" ACCESS_TOKEN "/%s", path);
	esp_http_client_set_url(client->http, url);
	esp_http_client_set_method(client->http, body ? HTTP_METHOD_POST : HTTP_METHOD_GET);
	if (body)
		esp_http_client_set_header(client->http, "Content-Type", "application/json");
	else
		esp_http_client_delete_header(client->http, "Content-Type");
	esp_http_client_set_post_field(client->http, body, body ? strlen(body) : 0);
	client->length = 0;
	esp_err_t error = esp_http_client_perform(client->http);
	client->body[client->length] = 0;
	if (error == ESP_OK)
		return esp_http_client_get_status_code(client->http);
	// The platform closes what stood still for a minute: the next request opens another connection.
	esp_http_client_close(client->http);
	return -1;
}

void client_wait(int *failures)
{
	// The first time it may have been a connection that was closed meanwhile.
	if ((*failures)++ == 0)
		return;
	int ms = *failures < 7 ? 1000 << (*failures - 2) : LONGEST_WAIT_MS;
	vTaskDelay(pdMS_TO_TICKS(ms / 2 + esp_random() % (ms / 2)));
}
