#include "tls_connection.h"
#include "tls_sessions.h"
#include "tls_trust.h"
#include "tls_words.h"
#include <stdlib.h>
#include <string.h>

/** Bytes for the engine that it has not read yet: beyond it the rest waits in the record, and in TCP. */
#define RING_IN 4096
#define RING_OUT 2048

/** Of a handshake: in all, and in one piece. */
#define HANDSHAKE 36864
#define PIECE 20480
/** So many bytes from TCP, and those of the piece that it came to, are taken in before another connection has its turn: more than a record. */
#define CAME_MOST 20480
/** Stays free for TCP and Wi-Fi. What does not fit beside it waits for others to be done with theirs. */
#define RESERVE 12288
/** So long a handshake or a record waits for memory. */
#define PATIENCE_S 10

/** Fresh keys for each connection and authenticated encryption; the quickest without help of the hardware first. */
static const int suites[] = {
	MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
	MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	0,
};

static bool is_address(const char *name)
{
	return strspn(name, "0123456789.") == strlen(name);
}

struct tls_connection *tls_connection_make(const char *address, uint16_t port, const char *name, const struct tls_authorities *authorities)
{
	struct tls_connection *connection = calloc(1, sizeof *connection);
	if (!connection)
		return NULL;
	connection->address = strdup(address);
	connection->name = strdup(name);
	connection->port = port;
	connection->is_address = is_address(name);
	if (connection->address && connection->name && tls_trust_copy(connection, authorities))
		return connection;
	tls_connection_retire(connection);
	tls_connection_free(connection);
	return NULL;
}

static bool end(struct tls_connection *connection, const char *reason)
{
	connection->phase = TLS_PHASE_OVER;
	tls_lock();
	if (!connection->reason)
		connection->reason = reason;
	connection->events |= TLS_CLOSED;
	tls_unlock();
	return false;
}

static int send_below(void *context, const unsigned char *from, size_t count)
{
	struct tls_connection *connection = context;
	int sent = tls_net_send(connection->net, from, count);
	if (sent > 0)
		return sent;
	return sent == TLS_NET_AGAIN ? MBEDTLS_ERR_SSL_WANT_WRITE : TLS_NET_BROKEN;
}

/** A record that the buffer does not hold waits for a larger one. */
static bool too_long(struct tls_connection *connection, size_t count)
{
	uint8_t head[TLS_HEAD];
	return connection->phase == TLS_PHASE_OPEN && count == TLS_HEAD && tls_buffer_idle(&connection->ssl) &&
		tls_net_peek(connection->net, head, TLS_HEAD) == TLS_HEAD && tls_buffer_record(head) > connection->buffer.room;
}

/** Alerts that mean nothing are taken in within one call, as long as there are any: the other connections have their turn. */
static bool came_enough(const struct tls_connection *connection)
{
	return connection->came >= CAME_MOST;
}

static int receive_below(void *context, unsigned char *into, size_t count)
{
	struct tls_connection *connection = context;
	if (came_enough(connection))
		return MBEDTLS_ERR_SSL_WANT_READ;
	// Tickets are short: nobody has a reason to send one in several records.
	if (connection->phase == TLS_PHASE_OPEN && tls_buffer_in_pieces(&connection->ssl))
		return MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE;
	if (too_long(connection, count))
		return MBEDTLS_ERR_SSL_WANT_READ;
	int received = tls_net_receive(connection->net, into, count);
	if (received > 0) {
		connection->came += received;
		return received;
	}
	if (received == TLS_NET_AGAIN)
		return MBEDTLS_ERR_SSL_WANT_READ;
	return received == TLS_NET_END ? MBEDTLS_ERR_SSL_CONN_EOF : TLS_NET_BROKEN;
}

static bool dial(struct tls_connection *connection)
{
	connection->net = tls_net_dial(connection->address, connection->port);
	if (!connection->net)
		return end(connection, "bad address, or no socket left");
	connection->phase = TLS_PHASE_CONNECTING;
	return true;
}

static int configure(struct tls_connection *connection)
{
	mbedtls_ssl_config *config = &connection->config;
	int error = mbedtls_ssl_config_defaults(config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
	if (error)
		return error;
	mbedtls_ssl_conf_ciphersuites(config, suites);
	mbedtls_ssl_conf_min_tls_version(config, MBEDTLS_SSL_VERSION_TLS1_2);
	mbedtls_ssl_conf_session_tickets(config, MBEDTLS_SSL_SESSION_TICKETS_ENABLED);
#if defined(MBEDTLS_SSL_PROTO_TLS1_3)
	// A session that goes on has fresh keys as well.
	mbedtls_ssl_conf_tls13_key_exchange_modes(config, MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL | MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL);
#endif
	error = mbedtls_ssl_setup(&connection->ssl, config);
	if (error)
		return error;
	return tls_buffer_as_expected(&connection->ssl) ? tls_trust_set_up(connection) : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

static bool set_up(struct tls_connection *connection)
{
	connection->set_up = true;
	mbedtls_ssl_init(&connection->ssl);
	mbedtls_ssl_config_init(&connection->config);
	mbedtls_x509_crt_init(&connection->trusted);
	int error = psa_crypto_init() == PSA_SUCCESS ? configure(connection) : MBEDTLS_ERR_SSL_ALLOC_FAILED;
	if (error == MBEDTLS_ERR_SSL_ALLOC_FAILED)
		return end(connection, TLS_WORDS_NO_MEMORY);
	if (error)
		return end(connection, error == MBEDTLS_ERR_SSL_INTERNAL_ERROR ? "TLS: compiled for another mbedTLS" : "config.ca is no certificate");
	mbedtls_ssl_set_bio(&connection->ssl, connection, send_below, receive_below, NULL);
	tls_sessions_offer(connection);
	connection->phase = TLS_PHASE_SHAKING;
	connection->moved = tls_seconds();
	return true;
}

/** True if it waits long enough for what it can't have. */
static bool starves(struct tls_connection *connection)
{
	uint32_t now = tls_seconds() + 1;
	if (!connection->starved)
		connection->starved = now;
	return now - connection->starved > PATIENCE_S;
}

static bool connect_below(struct tls_connection *connection)
{
	int state = tls_net_connected(connection->net);
	if (state == TLS_NET_AGAIN)
		return false;
	if (state)
		return end(connection, "connection failed");
	if (tls_largest_free() < PIECE || tls_free() < HANDSHAKE + RESERVE)
		return starves(connection) ? end(connection, TLS_WORDS_NO_MEMORY) : false;
	connection->starved = 0;
	return set_up(connection);
}

static bool opened(struct tls_connection *connection)
{
	tls_trust_drop(connection);
	connection->phase = TLS_PHASE_OPEN;
	tls_buffer_begin(&connection->buffer);
	// What was offered had no certificate with it: one that is there was shown now.
	connection->resumed = connection->resumed && !mbedtls_ssl_get_peer_cert(&connection->ssl);
	tls_trust_dates(connection);
	if (!connection->resumed)
		connection->born = tls_seconds();
	tls_sessions_without_certificate(connection);
	// In TLS 1.3 what the next connection goes on with comes later, in a message of its own.
	if (mbedtls_ssl_get_version_number(&connection->ssl) == MBEDTLS_SSL_VERSION_TLS1_2)
		tls_sessions_keep(connection);
	tls_lock();
	tls_ring_begin(&connection->in, RING_IN);
	tls_ring_begin(&connection->out, RING_OUT);
	connection->events |= TLS_OPENED;
	tls_unlock();
	return true;
}

/** One step of it: a signature takes a while, and others wait. */
static bool shake(struct tls_connection *connection)
{
	int error = mbedtls_ssl_handshake_step(&connection->ssl);
	if (error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_WANT_WRITE)
		return came_enough(connection);
	connection->moved = tls_seconds();
	if (error && error != MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) {
		tls_trust_dates(connection);
		if (connection->resumed)
			tls_sessions_drop(connection);
		return end(connection, tls_words_of_handshake(connection, error));
	}
	return mbedtls_ssl_is_handshake_over(&connection->ssl) ? opened(connection) : true;
}

/** TCP did not take the whole of a record yet. */
static bool is_half_sent(const struct tls_connection *connection)
{
	return connection->ssl.MBEDTLS_PRIVATE(out_left) > 0;
}

/** So many bytes of the engine's are in a record that went out whole. */
static void sent_out(struct tls_connection *connection, size_t count)
{
	connection->writing = 0;
	tls_lock();
	tls_ring_used(&connection->out, count);
	tls_ring_rest(&connection->out);
	if (connection->hungry) {
		connection->hungry = false;
		connection->events |= TLS_WRITABLE;
	}
	tls_unlock();
}

/** Of `count` bytes that the engine gave, what one record holds. */
static size_t of_one_record(struct tls_connection *connection, size_t count)
{
	int most = mbedtls_ssl_get_max_out_record_payload(&connection->ssl);
	return most > 0 && (size_t)most < count ? (size_t)most : count;
}

/** The engine found no memory for what it has to write: false as long as there is none. */
static bool have_room(struct tls_connection *connection)
{
	tls_lock();
	bool lacks = connection->hungry && !connection->out.bytes;
	bool has = !lacks || (tls_free() >= RING_OUT + RESERVE && tls_ring_have(&connection->out));
	if (lacks && has) {
		connection->starved = 0;
		connection->hungry = false;
		connection->events |= TLS_WRITABLE;
	}
	tls_unlock();
	return has;
}

/** True if something went out. */
static bool send_some(struct tls_connection *connection)
{
	// A read that has a ticket to take in sends the rest of a record first: offered again, it would go out twice.
	if (connection->writing && !is_half_sent(connection)) {
		sent_out(connection, connection->writing);
		return true;
	}
	if (!have_room(connection))
		return starves(connection) ? end(connection, TLS_WORDS_NO_MEMORY) : false;
	size_t count;
	tls_lock();
	uint8_t *from = tls_ring_oldest(&connection->out, &count);
	tls_unlock();
	bool rest = is_half_sent(connection);
	if (count == 0 && !rest)
		return false;
	// Without bytes mbedTLS sends the rest of the record that it has.
	int sent = mbedtls_ssl_write(&connection->ssl, from, rest ? 0 : count);
	if (sent == MBEDTLS_ERR_SSL_WANT_READ || sent == MBEDTLS_ERR_SSL_WANT_WRITE) {
		if (!rest && is_half_sent(connection))
			connection->writing = of_one_record(connection, count);
		return false;
	}
	// A message that a read had only begun with.
	if (sent == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) {
		tls_sessions_keep(connection);
		return true;
	}
	if (sent < 0 || (sent == 0 && !rest))
		return end(connection, tls_words_of_record(sent));
	if (!rest)
		sent_out(connection, sent);
	return true;
}

/** 0: there is a buffer for the record that comes next, or for the rest of the present one; otherwise why not. */
static int make_room(struct tls_connection *connection)
{
	uint8_t head[TLS_HEAD];
	if (!tls_buffer_idle(&connection->ssl))
		return 0;
	int there = tls_net_peek(connection->net, head, TLS_HEAD);
	if (there < 0) {
		tls_buffer_park(&connection->buffer, &connection->ssl);
		return there;
	}
	size_t record = tls_buffer_record(head);
	if (connection->buffer.room >= record && connection->buffer.room > 0)
		return 0;
	tls_buffer_park(&connection->buffer, &connection->ssl);
	if (tls_free() >= record + RESERVE && tls_buffer_make(&connection->buffer, &connection->ssl, record)) {
		connection->starved = 0;
		return 0;
	}
	// The record waits in TCP; another connection may be done with its own.
	return starves(connection) ? MBEDTLS_ERR_SSL_ALLOC_FAILED : TLS_NET_AGAIN;
}

/** What came before it was all taken in; the end was not said within TLS. */
static bool no_more(struct tls_connection *connection, int why)
{
	if (why == TLS_NET_AGAIN)
		return false;
	return end(connection, tls_words_of_record(why == TLS_NET_END ? MBEDTLS_ERR_SSL_CONN_EOF : why));
}

/** Where the next bytes for the engine go; NULL: no memory. */
static uint8_t *fill_from(struct tls_connection *connection, size_t *room)
{
	tls_lock();
	connection->filling = tls_ring_have(&connection->in);
	uint8_t *into = connection->filling ? tls_ring_room(&connection->in, room) : NULL;
	tls_unlock();
	return into;
}

static void filled(struct tls_connection *connection, int received)
{
	tls_lock();
	connection->filling = false;
	if (received > 0) {
		tls_ring_added(&connection->in, received);
		connection->events |= TLS_READABLE;
	}
	tls_ring_rest(&connection->in);
	tls_unlock();
}

/** True if something came. */
static bool receive_some(struct tls_connection *connection)
{
	size_t room;
	tls_lock();
	bool full = connection->in.filled == connection->in.size;
	tls_unlock();
	if (full) {
		// As long as the engine reads nothing others may have the memory.
		if (tls_buffer_idle(&connection->ssl))
			tls_buffer_park(&connection->buffer, &connection->ssl);
		return false;
	}
	int missing = make_room(connection);
	if (missing)
		return no_more(connection, missing);
	uint8_t *into = fill_from(connection, &room);
	if (!into)
		return starves(connection) ? end(connection, TLS_WORDS_NO_MEMORY) : false;
	connection->starved = 0;
	int received = mbedtls_ssl_read(&connection->ssl, into, room);
	filled(connection, received);
	if (received == MBEDTLS_ERR_SSL_WANT_READ || received == MBEDTLS_ERR_SSL_WANT_WRITE)
		return came_enough(connection);
	if (received == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) {
		tls_sessions_keep(connection);
		return true;
	}
	if (received <= 0)
		return end(connection, tls_words_of_record(received));
	return true;
}

static bool exchange(struct tls_connection *connection)
{
	bool more = send_some(connection);
	return connection->phase == TLS_PHASE_OPEN && (receive_some(connection) || more);
}

bool tls_connection_step(struct tls_connection *connection)
{
	connection->came = 0;
	switch (connection->phase) {
		case TLS_PHASE_NEW:
			return dial(connection);
		case TLS_PHASE_CONNECTING:
			return connect_below(connection);
		case TLS_PHASE_SHAKING:
			return shake(connection);
		case TLS_PHASE_OPEN:
			return exchange(connection);
		case TLS_PHASE_OVER:
			break;
	}
	return false;
}

void tls_connection_retire(struct tls_connection *connection)
{
	if (connection->set_up) {
		// Once, and as far as it goes: the other side need not be there any more. Not in front of half a record.
		if (connection->phase == TLS_PHASE_OPEN && !is_half_sent(connection))
			mbedtls_ssl_close_notify(&connection->ssl);
		// A buffer of our own is not as long as mbedTLS believes.
		if (connection->buffer.room > 0)
			tls_buffer_park(&connection->buffer, &connection->ssl);
		mbedtls_ssl_free(&connection->ssl);
		mbedtls_ssl_config_free(&connection->config);
		mbedtls_x509_crt_free(&connection->trusted);
		connection->set_up = false;
	}
	if (connection->net)
		tls_net_close(connection->net);
	connection->net = NULL;
	connection->phase = TLS_PHASE_OVER;
	free(connection->address);
	free(connection->name);
	free(connection->authorities);
	connection->address = connection->name = NULL;
	connection->authorities = NULL;
	tls_lock();
	tls_ring_drop(&connection->out);
	tls_unlock();
}

void tls_connection_free(struct tls_connection *connection)
{
	tls_ring_drop(&connection->in);
	tls_ring_drop(&connection->out);
	if (connection->engine)
		tls_forget(connection->engine);
	free(connection);
}
