#include "tls_service.h"
#include <string.h>

/** Between two looks where nothing wakes the task: with connections, and without. */
#define LOOK_MS 1000
#define IDLE_MS 60000
/** A handshake whose other side is silent for so long keeps no other from beginning. */
#define SILENT_S 3
/** The engine's queue was full. */
#define AGAIN_MS 20

/** Under the lock. */
static struct tls_connection *table;
static struct tls_figures figures;

static void run(void);

struct tls_connection *tls_open(const char *address, uint16_t port, const char *name, const struct tls_authorities *authorities, void *engine, const char **why)
{
	*why = "TLS: no memory for another connection";
	if (!tls_task_start(run))
		return NULL;
	struct tls_connection *connection = tls_connection_make(address, port, name, authorities);
	if (!connection)
		return NULL;
	connection->references = 2;
	tls_lock();
	bool full = figures.connections >= TLS_MOST;
	if (!full) {
		connection->engine = engine;
		connection->next = table;
		table = connection;
		figures.connections++;
	}
	tls_unlock();
	if (full) {
		*why = "TLS: too many connections at once";
		tls_connection_retire(connection);
		tls_connection_free(connection);
		return NULL;
	}
	tls_task_wake();
	return connection;
}

size_t tls_write(struct tls_connection *connection, const uint8_t *from, size_t count)
{
	tls_lock();
	bool usable = count > 0 && !connection->closed && !connection->reason && connection->out.size > 0;
	size_t taken = usable && tls_ring_have(&connection->out) ? tls_ring_put(&connection->out, from, count) : 0;
	if (usable && taken < count)
		connection->hungry = true;
	tls_unlock();
	if (usable)
		tls_task_wake();
	return taken;
}

size_t tls_read(struct tls_connection *connection, uint8_t *into, size_t count)
{
	tls_lock();
	size_t taken = connection->in.bytes ? tls_ring_take(&connection->in, into, count) : 0;
	if (!connection->filling)
		tls_ring_rest(&connection->in);
	tls_unlock();
	if (taken > 0)
		tls_task_wake();
	return taken;
}

void tls_close(struct tls_connection *connection)
{
	tls_lock();
	connection->closed = true;
	tls_unlock();
	tls_task_wake();
}

int tls_take_events(struct tls_connection *connection, const char **reason)
{
	tls_lock();
	int events = connection->closed ? 0 : connection->events;
	connection->events = 0;
	connection->posted = false;
	*reason = connection->reason;
	tls_unlock();
	return events;
}

void tls_release(struct tls_connection *connection)
{
	tls_lock();
	bool last = --connection->references == 0;
	tls_unlock();
	if (last)
		tls_connection_free(connection);
}

void tls_leave(struct tls_connection *connection)
{
	tls_close(connection);
	for (;;) {
		tls_lock();
		bool posting = connection->posting;
		tls_unlock();
		if (!posting)
			break;
		tls_pause();
	}
	tls_release(connection);
}

void tls_figures(struct tls_figures *into)
{
	tls_lock();
	*into = figures;
	tls_unlock();
}

/** True if the engine could not be notified. The lock is not held meanwhile: the engine's task may wait for it, and its queue for the engine's task. */
static bool post(struct tls_connection *connection)
{
	tls_lock();
	bool wanted = connection->events && !connection->posted && !connection->closed;
	if (wanted) {
		connection->posted = connection->posting = true;
		connection->references++;
	}
	tls_unlock();
	if (!wanted)
		return false;
	bool done = tls_post(connection->engine);
	tls_lock();
	connection->posting = false;
	if (!done) {
		connection->posted = false;
		connection->references--;
	}
	tls_unlock();
	return !done;
}

static void count(const struct tls_connection *connection, enum tls_phase before)
{
	if (before != TLS_PHASE_SHAKING || connection->phase == before)
		return;
	tls_lock();
	if (connection->phase == TLS_PHASE_OVER)
		figures.failed++;
	else if (connection->resumed)
		figures.resumed++;
	else
		figures.full++;
	tls_unlock();
}

/** Out of the table, and what it has of mbedTLS and TCP goes. What came and was not read stays for the engine. */
static void retire(struct tls_connection *connection)
{
	tls_connection_retire(connection);
	tls_lock();
	struct tls_connection **at = &table;
	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	figures.connections--;
	tls_unlock();
	tls_release(connection);
}

/** A handshake takes some 40 KB, and the processor: others wait until it is over. */
static bool must_wait(const struct tls_connection *connection)
{
	if (connection->phase != TLS_PHASE_CONNECTING)
		return false;
	tls_lock();
	const struct tls_connection *other = table;
	tls_unlock();
	while (other && (other->phase != TLS_PHASE_SHAKING || tls_seconds() - other->moved > SILENT_S))
		other = other->next;
	return other != NULL;
}

/** True if it can go on at once. `late`: its message did not fit the engine's queue. */
static bool serve(struct tls_connection *connection, bool *late)
{
	tls_lock();
	bool closed = connection->closed;
	bool reported = connection->phase == TLS_PHASE_OVER && !connection->events;
	tls_unlock();
	if (closed || reported) {
		retire(connection);
		return true;
	}
	if (must_wait(connection))
		return false;
	enum tls_phase before = connection->phase;
	bool more = tls_connection_step(connection);
	count(connection, before);
	if (post(connection))
		*late = true;
	return more || (connection->phase == TLS_PHASE_OVER && before != TLS_PHASE_OVER);
}

static void run(void)
{
	for (;;) {
		bool more = false, late = false;
		tls_lock();
		struct tls_connection *connection = table;
		tls_unlock();
		while (connection) {
			// Only this task takes connections out.
			tls_lock();
			struct tls_connection *next = connection->next;
			tls_unlock();
			if (serve(connection, &late))
				more = true;
			connection = next;
		}
		if (!more)
			tls_task_wait(late ? AGAIN_MS : table ? LOOK_MS : IDLE_MS);
	}
}
