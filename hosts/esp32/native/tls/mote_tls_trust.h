// Verifies the peer's certificates: CA, dates, key usage and name.
#pragma once
#include "mote_tls_connection.h"

/** Copies the CA certificates, because the engine may move them. May return ESP_ERR_NO_MEM. */
esp_err_t mote_tls_trust_copy(struct mote_tls_connection *connection, const struct mote_tls_authorities *authorities);
/** Makes mbedTLS verify with them, or with the bundle. Returns 0 or mbedTLS's error. */
int mote_tls_trust_set_up(struct mote_tls_connection *connection);
/**
 * Call after a handshake, successful or not. Stores the dates of the chain in `validity`, unless
 * something other than a date is wrong with the chain.
 */
void mote_tls_trust_keep_dates(struct mote_tls_connection *connection);
/** Frees the CA certificates after a handshake. */
void mote_tls_trust_drop(struct mote_tls_connection *connection);
