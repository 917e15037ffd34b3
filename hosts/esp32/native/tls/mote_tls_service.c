#include "mote_tls_service.h"
#include "esp_log.h"
#include <string.h>

static const char *const TAG = "mote_tls";

/** How often the task checks its connections if nothing wakes it: with connections, and without. */
#define POLL_MS 1000
#define IDLE_MS 60000
/** If its peer is silent for so long, a handshake lets another one begin. */
#define SILENT_S 3
/** Delay before the next attempt to post if the engine's queue was full. */
#define REPOST_MS 20

// Use with the lock only.
static struct mote_tls_connection *connections;
static struct mote_tls_figures figures;

static void run(void);

esp_err_t mote_tls_open(const char *address, uint16_t port, const char *name,
	const struct mote_tls_authorities *authorities, const struct mote_tls_engine *engine, void *context,
	struct mote_tls_connection **into)
{
	esp_err_t error = mote_tls_task_start(run);
	if (error != ESP_OK) {
		ESP_LOGE(TAG, "no memory for the task");
		return error;
	}
	struct mote_tls_connection *connection = mote_tls_connection_make(address, port, name, authorities);
	if (!connection)
		return ESP_ERR_NO_MEM;
	connection->references = 2;
	mote_tls_lock();
	bool full = figures.connections >= MOTE_TLS_MOST;
	if (!full) {
		connection->engine = engine;
		connection->context = context;
		connection->next = connections;
		connections = connection;
		figures.connections++;
		*into = connection;
	}
	mote_tls_unlock();
	if (full) {
		mote_tls_connection_retire(connection);
		mote_tls_connection_free(connection);
		return ESP_ERR_INVALID_STATE;
	}
	mote_tls_task_wake();
	return ESP_OK;
}

size_t mote_tls_write(struct mote_tls_connection *connection, const uint8_t *from, size_t count)
{
	mote_tls_lock();
	bool usable = count > 0 && !connection->closed && !connection->reason && connection->out.size > 0;
	size_t taken = usable && mote_tls_ring_reserve(&connection->out) ? mote_tls_ring_put(&connection->out, from, count) : 0;
	if (usable && taken < count)
		connection->write_blocked = true;
	mote_tls_unlock();
	if (usable)
		mote_tls_task_wake();
	return taken;
}

size_t mote_tls_read(struct mote_tls_connection *connection, uint8_t *into, size_t count)
{
	mote_tls_lock();
	size_t taken = connection->in.bytes ? mote_tls_ring_take(&connection->in, into, count) : 0;
	if (!connection->filling)
		mote_tls_ring_trim(&connection->in);
	mote_tls_unlock();
	if (taken > 0)
		mote_tls_task_wake();
	return taken;
}

void mote_tls_close(struct mote_tls_connection *connection)
{
	mote_tls_lock();
	connection->closed = true;
	mote_tls_unlock();
	mote_tls_task_wake();
}

int mote_tls_take_events(struct mote_tls_connection *connection, const char **reason)
{
	mote_tls_lock();
	int events = connection->closed ? 0 : connection->events;
	connection->events = 0;
	connection->posted = false;
	*reason = connection->reason;
	mote_tls_unlock();
	return events;
}

void mote_tls_release(struct mote_tls_connection *connection)
{
	mote_tls_lock();
	bool last = --connection->references == 0;
	mote_tls_unlock();
	if (last)
		mote_tls_connection_free(connection);
}

void mote_tls_get_figures(struct mote_tls_figures *into)
{
	mote_tls_lock();
	*into = figures;
	mote_tls_unlock();
}

/**
 * True if the engine could not be notified. Posts without the lock: the engine's task may wait for
 * the lock, and its queue for the engine's task.
 */
static bool post(struct mote_tls_connection *connection)
{
	mote_tls_lock();
	bool wanted = connection->events && !connection->posted && !connection->closed;
	if (wanted) {
		connection->posted = true;
		connection->references++;
	}
	mote_tls_unlock();
	if (!wanted)
		return false;
	if (connection->engine->post(connection->context))
		return false;
	mote_tls_lock();
	connection->posted = false;
	connection->references--;
	mote_tls_unlock();
	return true;
}

static void count_handshake(const struct mote_tls_connection *connection, enum mote_tls_phase before)
{
	if (before != MOTE_TLS_PHASE_HANDSHAKE || connection->phase == before)
		return;
	mote_tls_lock();
	if (connection->phase == MOTE_TLS_PHASE_ENDED)
		figures.failed++;
	else if (connection->resumed)
		figures.resumed++;
	else
		figures.full++;
	mote_tls_unlock();
}

/** Removes it from the list and frees mbedTLS and TCP. The engine can still read its bytes. */
static void remove_connection(struct mote_tls_connection *connection)
{
	mote_tls_connection_retire(connection);
	mote_tls_lock();
	struct mote_tls_connection **at = &connections;
	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	figures.connections--;
	mote_tls_unlock();
	mote_tls_release(connection);
}

/** True while another handshake runs: each takes some 40 KB and the processor. */
static bool must_wait(const struct mote_tls_connection *connection)
{
	if (connection->phase != MOTE_TLS_PHASE_CONNECTING)
		return false;
	mote_tls_lock();
	const struct mote_tls_connection *other = connections;
	mote_tls_unlock();
	while (other && (other->phase != MOTE_TLS_PHASE_HANDSHAKE || mote_tls_seconds() - other->last_step_at > SILENT_S))
		other = other->next;
	return other != NULL;
}

/** True if the task must serve it again. Sets `must_repost` if the engine's queue was full. */
static bool serve(struct mote_tls_connection *connection, bool *must_repost)
{
	mote_tls_lock();
	bool closed = connection->closed;
	bool reported = connection->phase == MOTE_TLS_PHASE_ENDED && !connection->events;
	mote_tls_unlock();
	if (closed || reported) {
		remove_connection(connection);
		return true;
	}
	if (must_wait(connection))
		return false;
	enum mote_tls_phase before = connection->phase;
	bool more = mote_tls_connection_step(connection);
	count_handshake(connection, before);
	if (post(connection))
		*must_repost = true;
	return more || (connection->phase == MOTE_TLS_PHASE_ENDED && before != MOTE_TLS_PHASE_ENDED);
}

static void run(void)
{
	for (;;) {
		bool more = false, must_repost = false;
		mote_tls_lock();
		struct mote_tls_connection *connection = connections;
		mote_tls_unlock();
		while (connection) {
			// Only this task removes connections, so `next` stays valid.
			mote_tls_lock();
			struct mote_tls_connection *next = connection->next;
			mote_tls_unlock();
			if (serve(connection, &must_repost))
				more = true;
			connection = next;
		}
		if (!more)
			mote_tls_task_wait(must_repost ? REPOST_MS : connections ? POLL_MS : IDLE_MS);
	}
}
