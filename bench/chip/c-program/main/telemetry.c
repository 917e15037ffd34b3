#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/queue.h"
#include "freertos/task.h"
#include "nvs.h"
#include "program.h"

#define MOST_POINTS 120
#define MOST_BATCH 50
// How long a point waits for others to fill a batch.
#define BATCH_AGE_MS 60000

typedef struct {
	uint32_t number;
	int64_t ts;
	double temperature;
	double humidity;
} Point;

static QueueHandle_t points;
static esp_timer_handle_t timer;
static nvs_handle_t store;
static uint32_t number;
static volatile int batch = 1;
static volatile bool durable;

static void key_of(char key[NVS_KEY_NAME_MAX_SIZE], uint32_t which)
{
	snprintf(key, NVS_KEY_NAME_MAX_SIZE, "p%" PRIu32, which);
}

// Called by the timer's task.
static void sample(void *unused)
{
	struct timeval now;
	gettimeofday(&now, NULL);
	Point point = {
		.number = number,
		.ts = now.tv_sec * 1000LL + now.tv_usec / 1000,
		.temperature = 20 + number % 100 / 10.0,
		.humidity = 40 + number % 50 / 10.0,
	};
	number++;
	if (durable) {
		char key[NVS_KEY_NAME_MAX_SIZE];
		key_of(key, point.number);
		nvs_set_blob(store, key, &point, sizeof point);
		nvs_commit(store);
	}
	xQueueSend(points, &point, 0);
}

// Points of before the power went.
static void read_stored(void)
{
	nvs_iterator_t at = NULL;
	for (esp_err_t found = nvs_entry_find("nvs", "points", NVS_TYPE_BLOB, &at); found == ESP_OK; found = nvs_entry_next(&at)) {
		nvs_entry_info_t info;
		Point point;
		size_t size = sizeof point;
		nvs_entry_info(at, &info);
		if (nvs_get_blob(store, info.key, &point, &size) != ESP_OK)
			continue;
		if (point.number >= number)
			number = point.number + 1;
		xQueueSend(points, &point, 0);
	}
	nvs_release_iterator(at);
}

static char *json_of(const Point *list, int count)
{
	cJSON *all = cJSON_CreateArray();
	for (int i = 0; i < count; i++) {
		cJSON *one = cJSON_CreateObject();
		cJSON_AddNumberToObject(one, "ts", list[i].ts);
		cJSON *values = cJSON_AddObjectToObject(one, "values");
		cJSON_AddNumberToObject(values, "temperature", list[i].temperature);
		cJSON_AddNumberToObject(values, "humidity", list[i].humidity);
		cJSON_AddItemToArray(all, one);
	}
	char *json = cJSON_PrintUnformatted(all);
	cJSON_Delete(all);
	return json;
}

bool telemetry_send(Client *client, const char *json)
{
	for (int failures = 0; failures < 8;) {
		int status = client_request(client, "telemetry", json);
		if (status == 200)
			return true;
		if (status >= 400 && status < 500 && status != 429)
			return false;
		client_wait(&failures);
	}
	return false;
}

static void send_all(Client *client, const Point *list, int count)
{
	char *json = json_of(list, count);
	if (json && telemetry_send(client, json) && durable) {
		for (int i = 0; i < count; i++) {
			char key[NVS_KEY_NAME_MAX_SIZE];
			key_of(key, list[i].number);
			nvs_erase_key(store, key);
		}
		nvs_commit(store);
	}
	free(json);
}

static void run(void *unused)
{
	static Point list[MOST_BATCH];
	Client *client = client_open();
	firmware_runs(client);
	// The time is known then.
	read_stored();
	telemetry_every(CONFIG_BENCH_FIRST_MS, 1, false);
	for (;;) {
		int count = 0;
		TickType_t began = 0;
		do {
			TickType_t waited = xTaskGetTickCount() - began;
			TickType_t most = pdMS_TO_TICKS(BATCH_AGE_MS);
			TickType_t wait = count == 0 ? portMAX_DELAY : waited < most ? most - waited : 0;
			if (!xQueueReceive(points, &list[count], wait))
				break;
			if (count++ == 0)
				began = xTaskGetTickCount();
		} while (count < batch);
		if (count > 0)
			send_all(client, list, count);
	}
}

void telemetry_every(int ms, int most, bool kept)
{
	esp_timer_stop(timer);
	batch = most < 1 ? 1 : most > MOST_BATCH ? MOST_BATCH : most;
	durable = kept;
	if (ms > 0)
		esp_timer_start_periodic(timer, ms * 1000LL);
}

void telemetry_start(void)
{
	points = xQueueCreate(MOST_POINTS, sizeof(Point));
	ESP_ERROR_CHECK(nvs_open("points", NVS_READWRITE, &store));
	esp_timer_create_args_t args = { .callback = sample, .name = "sample" };
	ESP_ERROR_CHECK(esp_timer_create(&args, &timer));
	xTaskCreate(run, "telemetry", 6144, NULL, 5, NULL);
}
