// What the parts of the program have of each other.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "cJSON.h"
#include "esp_http_client.h"

// network.c: starts the network and waits for an address.
void network_start(void);

// platform.c: requests of the device HTTP API. One client a task, with a connection that is kept.
#define BODY_BYTES 2048
typedef struct {
	esp_http_client_handle_t http;
	char body[BODY_BYTES];
	int length;
} Client;
extern const char ca_pem[] asm("_binary_ca_pem_start");
Client *client_open(void);
/** The answer's status, with its body in `client->body`; -1 if nobody answered. `path` follows the access token; a `body` makes it a POST. */
int client_request(Client *client, const char *path, const char *body);
/** Waits after a request that failed, longer each time. */
void client_wait(int *failures);

// telemetry.c: points, in memory or in NVS until they are acknowledged.
void telemetry_start(void);
/** A point every `ms`, none with 0; POSTs of `batch` points. */
void telemetry_every(int ms, int batch, bool durable);
/** Whether `json` was acknowledged; by the caller's own client. */
bool telemetry_send(Client *client, const char *json);

void rpc_start(void);
#define SHARED_KEYS "sharedKeys=setting,fw_title,fw_version,fw_size,fw_checksum,fw_checksum_algorithm"
void attributes_start(void);

// firmware.c
/** Downloads and starts what shared attributes assign, if it is another version. */
void firmware_assigned(Client *client, const cJSON *shared);
/** Confirms an image that runs for the first time. */
void firmware_runs(Client *client);
