// The methods of the class in tls.js.
#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"
#include "mote_tls_service.h"
#include <stdlib.h>

#define MOST_AUTHORITIES 16

/** Data of a JavaScript object. It is freed only after the last posted message was delivered. */
struct mote_tls_js_socket {
	xsMachine *the;
	xsSlot object;
	struct mote_tls_connection *connection;
};

/** The connection whose event is being delivered. */
static const struct mote_tls_connection *delivering;

static void deliver(void *machine, void *refcon, uint8_t *message, uint16_t length)
{
	xsMachine *the = machine;
	struct mote_tls_js_socket *socket = refcon;
	struct mote_tls_connection *connection = socket->connection;
	const char *reason;
	int events = mote_tls_take_events(connection, &reason);
	if (events) {
		delivering = connection;
		xsBeginHost(the);
		xsmcVars(2);
		xsmcSetInteger(xsVar(0), events);
		if (events & MOTE_TLS_CLOSED)
			xsmcSetString(xsVar(1), (char *)reason);
		xsmcGet(xsResult, socket->object, xsID_event);
		xsCallFunction2(xsResult, socket->object, xsVar(0), xsVar(1));
		xsEndHost(the);
		delivering = NULL;
	}
	mote_tls_task_wake();
	mote_tls_release(connection);
}

static bool post(void *context)
{
	struct mote_tls_js_socket *socket = context;
	return 0 == modMessagePostToMachine(socket->the, NULL, 0, deliver, socket);
}

static const struct mote_tls_engine callbacks = {.post = post, .forget = free};

/** Nothing to free: an open connection keeps its object, and a board's machine does not end. */
void mote_tls_js_destructor(void *data) {}

static size_t authorities_of(xsMachine *the, const uint8_t **bytes, size_t *lengths)
{
	xsmcGet(xsVar(0), xsArg(3), xsID_length);
	int count = xsmcToInteger(xsVar(0));
	if (count > MOST_AUTHORITIES)
		xsRangeError("TLS: too many CA certificates");
	for (int i = 0; i < count; i++) {
		void *data;
		xsUnsignedValue length;
		xsmcGetIndex(xsVar(0), xsArg(3), i);
		xsmcGetBufferReadable(xsVar(0), &data, &length);
		bytes[i] = data;
		lengths[i] = length;
	}
	return count;
}

void mote_tls_js_constructor(xsMachine *the)
{
	const uint8_t *bytes[MOST_AUTHORITIES];
	size_t lengths[MOST_AUTHORITIES];
	char name[256], address[32];
	xsmcVars(1);
	xsmcToStringBuffer(xsArg(0), name, sizeof name);
	xsmcToStringBuffer(xsArg(1), address, sizeof address);
	int port = xsmcToInteger(xsArg(2));
	struct mote_tls_authorities authorities = {authorities_of(the, bytes, lengths), bytes, lengths};
	struct mote_tls_js_socket *socket = calloc(1, sizeof *socket);
	if (!socket)
		xsUnknownError("TLS: no memory for another connection");
	socket->the = the;
	socket->object = xsThis;
	esp_err_t error = mote_tls_open(address, port, name, &authorities, &callbacks, socket, &socket->connection);
	if (error != ESP_OK) {
		free(socket);
		xsUnknownError(error == ESP_ERR_INVALID_STATE ? "TLS: too many connections at once" : "TLS: no memory for another connection");
	}
	xsmcSetHostData(xsThis, socket);
	xsRemember(socket->object);
}

void mote_tls_js_close(xsMachine *the)
{
	struct mote_tls_js_socket *socket = xsmcGetHostData(xsThis);
	if (!socket)
		return;
	struct mote_tls_connection *connection = socket->connection;
	xsmcSetHostData(xsThis, NULL);
	xsForget(socket->object);
	mote_tls_close(connection);
	mote_tls_release(connection);
}

void mote_tls_js_write(xsMachine *the)
{
	struct mote_tls_js_socket *socket = xsmcGetHostData(xsThis);
	void *data;
	xsUnsignedValue length;
	xsmcGetBufferReadable(xsArg(0), &data, &length);
	xsmcSetInteger(xsResult, socket ? (int)mote_tls_write(socket->connection, data, length) : 0);
}

void mote_tls_js_read(xsMachine *the)
{
	struct mote_tls_js_socket *socket = xsmcGetHostData(xsThis);
	void *data;
	xsUnsignedValue length;
	xsmcGetBufferWritable(xsArg(0), &data, &length);
	xsmcSetInteger(xsResult, socket ? (int)mote_tls_read(socket->connection, data, length) : 0);
}

enum { STACK_LEFT, CONNECTIONS, FULL, RESUMED, FAILED, VALID_FROM, VALID_TO };

/**
 * STACK_LEFT: bytes of the task's stack that were never used. CONNECTIONS: how many there are.
 * FULL, RESUMED, FAILED: handshakes since the start. VALID_FROM, VALID_TO: during an event of a
 * connection, the period in which its chain is valid, in seconds since 1970. Both are 0 if the peer
 * showed no chain, or if something other than a date is wrong with the chain.
 */
uint32_t mote_tls(uint32_t what)
{
	struct mote_tls_figures figures;
	mote_tls_get_figures(&figures);
	switch (what) {
		case STACK_LEFT:
			return mote_tls_task_stack_left();
		case CONNECTIONS:
			return figures.connections;
		case FULL:
			return figures.full;
		case RESUMED:
			return figures.resumed;
		case FAILED:
			return figures.failed;
		case VALID_FROM:
			return delivering ? delivering->validity.from : 0;
		case VALID_TO:
			return delivering ? delivering->validity.to : 0;
	}
	return 0;
}
