// One TLS connection: a state machine for the task, with a ring of bytes each way for the engine.
#pragma once
#include "tls_buffer.h"
#include "tls_mbedtls.h"
#include "tls_platform.h"
#include "tls_ring.h"

/** Events for the engine. */
enum {
	TLS_OPENED = 1,
	TLS_READABLE = 2,
	TLS_WRITABLE = 4,
	TLS_CLOSED = 8,
};

/** Certificates of authorities to trust, DER or PEM, one after the other. Without one, and for one of no bytes: the bundle of the image. */
struct tls_authorities {
	size_t count;
	const uint8_t *const *bytes;
	const size_t *lengths;
};

enum tls_phase {
	TLS_PHASE_NEW,
	TLS_PHASE_CONNECTING,
	TLS_PHASE_SHAKING,
	TLS_PHASE_OPEN,
	TLS_PHASE_OVER,
};

/** When all certificates of a chain are valid, in seconds since 1970; 0 and 0: not known. */
struct tls_validity {
	uint32_t from, to;
};

struct tls_connection {
	struct tls_connection *next;

	// Under the lock.
	/** Who may still look at it: the engine's object, the task, a message on its way. */
	int references;
	/** The engine gave it up. */
	bool closed;
	bool posted;
	/** The task is in the engine's queue with it. */
	bool posting;
	uint8_t events;
	/** The engine could not write all that it had. */
	bool hungry;
	/** The task puts bytes into `in`. */
	bool filling;
	struct tls_ring in, out;
	const char *reason;
	void *engine;

	// The task's own.
	enum tls_phase phase;
	char *address;
	char *name;
	uint16_t port;
	bool is_address;
	uint8_t *authorities;
	size_t authorities_length;
	uint32_t trust_id;
	bool set_up;
	bool resumed;
	/** When the other side's certificate was judged, in seconds of uptime: for a session that goes on, by the first of them. */
	uint32_t born;
	/** A certificate was looked at. */
	bool judged;
	/** Of the chain that was looked at, then of a chain with no fault beside its dates: see tls_trust_dates. */
	struct tls_validity chain, validity;
	/** Of `certificate: ...`, what the chain's judge saw beyond mbedTLS's flags. */
	const char *refusal;
	/** ESP-IDF's judge by its bundle. */
	int (*bundle)(void *, mbedtls_x509_crt *, int, uint32_t *);
	void *bundle_context;
	/** Bytes of the engine's in a record of which only a part went out. */
	size_t writing;
	struct tls_net *net;
	/** Bytes that came from TCP in this step. */
	size_t came;
	struct tls_buffer buffer;
	/** Since when no buffer is to be had, in seconds of uptime plus one; 0: it is. */
	uint32_t starved;
	/** When its handshake took its last step, in seconds of uptime. */
	uint32_t moved;
	mbedtls_ssl_config config;
	mbedtls_ssl_context ssl;
	mbedtls_x509_crt trusted;
};

/** NULL: no memory. */
struct tls_connection *tls_connection_make(const char *address, uint16_t port, const char *name, const struct tls_authorities *authorities);
/** For the task: does what can be done at present. True if there is more to do at once. */
bool tls_connection_step(struct tls_connection *connection);
/** For the task: gives back all but what the engine may still read. */
void tls_connection_retire(struct tls_connection *connection);
/** The last reference is gone. */
void tls_connection_free(struct tls_connection *connection);
