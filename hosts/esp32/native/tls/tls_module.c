// The engine's side: tls.js.
#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"
#include "tls_service.h"
#include <stdlib.h>

#define MOST_AUTHORITIES 16

/** What messages carry. It outlives the object, if one is on its way. */
struct engine {
	xsMachine *the;
	xsSlot object;
	struct tls_connection *connection;
};

/** Whose event the engine is told of at present. */
static const struct tls_connection *delivering;

static void deliver(void *machine, void *refcon, uint8_t *message, uint16_t length)
{
	xsMachine *the = machine;
	struct engine *engine = refcon;
	struct tls_connection *connection = engine->connection;
	const char *reason;
	int events = tls_take_events(connection, &reason);
	if (events) {
		delivering = connection;
		xsBeginHost(the);
		xsmcVars(2);
		xsmcSetInteger(xsVar(0), events);
		if (events & TLS_CLOSED)
			xsmcSetString(xsVar(1), (char *)reason);
		xsmcGet(xsResult, engine->object, xsID_event);
		xsCallFunction2(xsResult, engine->object, xsVar(0), xsVar(1));
		xsEndHost(the);
		delivering = NULL;
	}
	tls_task_wake();
	tls_release(connection);
}

bool tls_post(void *refcon)
{
	struct engine *engine = refcon;
	return 0 == modMessagePostToMachine(engine->the, NULL, 0, deliver, engine);
}

void tls_forget(void *refcon)
{
	free(refcon);
}

/** Of the machine: an object that is open is remembered, and not collected. */
void mote_tls_destructor(void *data)
{
	struct engine *engine = data;
	if (engine)
		tls_leave(engine->connection);
}

static size_t authorities_of(xsMachine *the, const uint8_t **bytes, size_t *lengths)
{
	xsmcGet(xsVar(0), xsArg(3), xsID_length);
	int count = xsmcToInteger(xsVar(0));
	if (count > MOST_AUTHORITIES)
		xsRangeError("too many authorities");
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

void mote_tls_constructor(xsMachine *the)
{
	const uint8_t *bytes[MOST_AUTHORITIES];
	size_t lengths[MOST_AUTHORITIES];
	char name[256], address[32];
	const char *why;

	xsmcVars(1);
	xsmcToStringBuffer(xsArg(0), name, sizeof name);
	xsmcToStringBuffer(xsArg(1), address, sizeof address);
	int port = xsmcToInteger(xsArg(2));
	struct tls_authorities authorities = {authorities_of(the, bytes, lengths), bytes, lengths};
	struct engine *engine = calloc(1, sizeof *engine);
	if (!engine)
		xsUnknownError("TLS: no memory for another connection");
	engine->the = the;
	engine->object = xsThis;
	struct tls_connection *connection = tls_open(address, port, name, &authorities, engine, &why);
	if (!connection) {
		free(engine);
		xsUnknownError((char *)why);
	}
	engine->connection = connection;
	xsmcSetHostData(xsThis, engine);
	xsRemember(engine->object);
}

void mote_tls_close(xsMachine *the)
{
	struct engine *engine = xsmcGetHostData(xsThis);
	if (!engine)
		return;
	struct tls_connection *connection = engine->connection;
	xsmcSetHostData(xsThis, NULL);
	xsForget(engine->object);
	tls_close(connection);
	tls_release(connection);
}

void mote_tls_write(xsMachine *the)
{
	struct engine *engine = xsmcGetHostData(xsThis);
	void *data;
	xsUnsignedValue length;
	xsmcGetBufferReadable(xsArg(0), &data, &length);
	xsmcSetInteger(xsResult, engine ? (int)tls_write(engine->connection, data, length) : 0);
}

void mote_tls_read(xsMachine *the)
{
	struct engine *engine = xsmcGetHostData(xsThis);
	void *data;
	xsUnsignedValue length;
	xsmcGetBufferWritable(xsArg(0), &data, &length);
	xsmcSetInteger(xsResult, engine ? (int)tls_read(engine->connection, data, length) : 0);
}

enum { STACK_LEFT, CONNECTIONS, FULL, RESUMED, FAILED, VALID_FROM, VALID_TO };

/**
 * Since the start: 0 bytes of the task's stack that were never used; 1 connections there are; handshakes 2 in full, 3 that went on with a session, 4 that failed.
 * During an event of a connection: 5 and 6 from and to when its chain is valid, in seconds since 1970; 0 if no chain was shown, or not only its dates are wrong.
 */
uint32_t mote_tls(uint32_t what)
{
	struct tls_figures figures;
	tls_figures(&figures);
	switch (what) {
		case STACK_LEFT:
			return tls_task_stack_left();
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
