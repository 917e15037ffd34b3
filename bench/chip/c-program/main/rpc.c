// Server-side RPC by long polling.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "esp_system.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "program.h"

static int number_of(const cJSON *params, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(params, name);
	return cJSON_IsNumber(member) ? member->valueint : 0;
}

static cJSON *points(const cJSON *params)
{
	bool durable = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(params, "durable"));
	telemetry_every(number_of(params, "ms"), number_of(params, "batch"), durable);
	return cJSON_Duplicate(params, true);
}

static cJSON *memory(void)
{
	cJSON *answer = cJSON_CreateObject();
	cJSON_AddNumberToObject(answer, "free", esp_get_free_heap_size());
	cJSON_AddNumberToObject(answer, "leastFree", esp_get_minimum_free_heap_size());
	cJSON_AddNumberToObject(answer, "stackLeft", uxTaskGetStackHighWaterMark(NULL));
	return answer;
}

static cJSON *call(const char *method, const cJSON *params)
{
	if (!strcmp(method, "points"))
		return points(params);
	if (!strcmp(method, "memory"))
		return memory();
	if (!strcmp(method, "echo"))
		return params ? cJSON_Duplicate(params, true) : cJSON_CreateNull();
	cJSON *error = cJSON_CreateObject();
	cJSON_AddStringToObject(error, "error", "unknown method");
	return error;
}

static void answer(Client *client, const cJSON *request)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
	const cJSON *method = cJSON_GetObjectItemCaseSensitive(request, "method");
	if (!cJSON_IsNumber(id) || !cJSON_IsString(method))
		return;
	cJSON *result = call(method->valuestring, cJSON_GetObjectItemCaseSensitive(request, "params"));
	char *json = cJSON_PrintUnformatted(result);
	char path[24];
	snprintf(path, sizeof path, "rpc/%d", id->valueint);
	if (json)
		client_request(client, path, json);
	free(json);
	cJSON_Delete(result);
}

static void run(void *unused)
{
	Client *client = client_open();
	int failures = 0;
	for (;;) {
		int status = client_request(client, "rpc?timeout=25000", NULL);
		if (status == 200) {
			cJSON *request = cJSON_Parse(client->body);
			answer(client, request);
			cJSON_Delete(request);
		}
		if (status == 200 || status == 408)
			failures = 0;
		else
			client_wait(&failures);
	}
}

void rpc_start(void)
{
	xTaskCreate(run, "rpc", 6144, NULL, 5, NULL);
}
