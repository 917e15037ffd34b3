// One TLS connection: a state machine for the task, with a ring of bytes each way for the engine.
#pragma once
#include "mote_tls_buffer.h"
#include "mote_tls_mbedtls.h"
#include "mote_tls_platform.h"
#include "mote_tls_ring.h"

/** Events for the engine. */
enum {
	MOTE_TLS_OPENED = 1,
	MOTE_TLS_READABLE = 2,
	MOTE_TLS_WRITABLE = 4,
	MOTE_TLS_CLOSED = 8,
};

/** How a connection reaches the engine, whose own value is `context`. */
struct mote_tls_engine {
	/** Has the engine take the events in its own task, later. False: its queue is full. */
	bool (*post)(void *context);
	/** The last reference to the connection is gone. */
	void (*forget)(void *context);
};

/** CA certificates to trust, DER or PEM. The image's bundle: no certificate, or an empty one. */
struct mote_tls_authorities {
	size_t count;
	const uint8_t *const *bytes;
	const size_t *lengths;
};

enum mote_tls_phase {
	MOTE_TLS_PHASE_NEW,
	MOTE_TLS_PHASE_CONNECTING,
	MOTE_TLS_PHASE_SHAKING,
	MOTE_TLS_PHASE_OPEN,
	MOTE_TLS_PHASE_OVER,
};

/** When all certificates of a chain are valid, in seconds since 1970. Both are 0 if unknown. */
struct mote_tls_validity {
	uint32_t from, to;
};

struct mote_tls_connection {
	struct mote_tls_connection *next;

	// Under the lock.
	/** Held by the engine's object, the task, and each message on its way. */
	int references;
	/** The engine closed it. */
	bool closed;
	/** A message is in the engine's queue. */
	bool posted;
	/** The task is posting a message. */
	bool posting;
	uint8_t events;
	/** The engine could not write all its bytes. */
	bool hungry;
	/** The task puts bytes into `in`. */
	bool filling;
	struct mote_tls_ring in, out;
	const char *reason;
	const struct mote_tls_engine *engine;
	void *context;

	// For the task alone.
	enum mote_tls_phase phase;
	char *address;
	char *name;
	uint16_t port;
	bool is_address;
	uint8_t *authorities;
	size_t authorities_length;
	uint32_t trust_id;
	bool set_up;
	bool resumed;
	/** Uptime in seconds when the peer's certificate was verified, in the first handshake. */
	uint32_t born;
	/** A certificate was verified. */
	bool judged;
	/** The dates of the chain so far; and those to report, see mote_tls_trust_dates. */
	struct mote_tls_validity chain, validity;
	/** What verification found beyond mbedTLS's flags, as the text of an error. */
	const char *refusal;
	/** ESP-IDF's verification by its bundle. */
	int (*bundle)(void *, mbedtls_x509_crt *, int, uint32_t *);
	void *bundle_context;
	/** The engine's bytes in a record that was sent in part. */
	size_t writing;
	struct mote_tls_net *net;
	/** Bytes that came from TCP in this step. */
	size_t came;
	struct mote_tls_buffer buffer;
	/** Since when there is no memory, in seconds of uptime plus one; 0: there is. */
	uint32_t starved;
	/** When the handshake took its last step, in seconds of uptime. */
	uint32_t moved;
	mbedtls_ssl_config config;
	mbedtls_ssl_context ssl;
	mbedtls_x509_crt trusted;
};

/** NULL: no memory. */
struct mote_tls_connection *mote_tls_connection_make(
	const char *address, uint16_t port, const char *name, const struct mote_tls_authorities *authorities);
/** For the task: does what is possible at present. True if there is more to do at once. */
bool mote_tls_connection_step(struct mote_tls_connection *connection);
/** For the task: frees all but what the engine may still read. */
void mote_tls_connection_retire(struct mote_tls_connection *connection);
/** Frees the rest. No reference is left. */
void mote_tls_connection_free(struct mote_tls_connection *connection);
