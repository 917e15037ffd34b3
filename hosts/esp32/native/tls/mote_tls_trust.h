// Verifies the peer: by CA, dates, use and name.
#pragma once
#include "mote_tls_connection.h"

/** Copies the CA certificates, as the engine may move its own. ESP_ERR_NO_MEM. */
esp_err_t mote_tls_trust_copy(struct mote_tls_connection *connection, const struct mote_tls_authorities *authorities);
/** Has mbedTLS verify by them, or by the bundle. 0, or mbedTLS's error. */
int mote_tls_trust_set_up(struct mote_tls_connection *connection);
/**
 * Call when a handshake is over, or has failed. Keeps the dates of the chain in `validity`, unless
 * something other than a date is wrong with the chain.
 */
void mote_tls_trust_dates(struct mote_tls_connection *connection);
/** Frees the CA certificates after a handshake. */
void mote_tls_trust_drop(struct mote_tls_connection *connection);
