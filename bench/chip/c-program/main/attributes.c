// Shared attributes: read at the start, then by long polling.
#include <stdlib.h>
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "program.h"

static volatile int setting;

static void changed(Client *client, const cJSON *shared)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(shared, "setting");
	if (cJSON_IsNumber(value))
		setting = value->valueint;
	firmware_assigned(client, shared);
}

static void run(void *unused)
{
	Client *client = client_open();
	bool known = false;
	int failures = 0;
	for (;;) {
		int status = client_request(client, known ? "attributes/updates?timeout=25000" : "attributes?" SHARED_KEYS, NULL);
		if (status == 200) {
			cJSON *answer = cJSON_Parse(client->body);
			changed(client, known ? answer : cJSON_GetObjectItemCaseSensitive(answer, "shared"));
			// What is changed beside a deletion comes a moment later, maybe while no poll is open.
			known = cJSON_GetObjectItemCaseSensitive(answer, "deleted") == NULL;
			cJSON_Delete(answer);
			if (!known)
				vTaskDelay(pdMS_TO_TICKS(1000));
		}
		if (status == 200 || status == 408)
			failures = 0;
		else {
			// What changed meanwhile was not received.
			known = known && failures == 0;
			client_wait(&failures);
		}
	}
}

void attributes_start(void)
{
	xTaskCreate(run, "attributes", 8192, NULL, 5, NULL);
}
