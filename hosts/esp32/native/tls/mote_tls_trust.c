#include "mote_tls_trust.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#if CONFIG_MBEDTLS_CERTIFICATE_BUNDLE
#include "esp_crt_bundle.h"
#endif

#define TAG_NAME 0x82
#define TAG_ADDRESS 0x87
#define DATES (MBEDTLS_X509_BADCERT_EXPIRED | MBEDTLS_X509_BADCERT_FUTURE)

/** Stores each certificate with its length before it and a zero after it, which PEM needs. */
esp_err_t mote_tls_trust_copy(struct mote_tls_connection *connection, const struct mote_tls_authorities *authorities)
{
	size_t length = 0;
	for (size_t i = 0; i < authorities->count; i++)
		length += sizeof(size_t) + authorities->lengths[i] + 1;
	if (length == 0)
		return ESP_OK;
	uint8_t *at = connection->authorities = malloc(length);
	if (!at)
		return ESP_ERR_NO_MEM;
	connection->authorities_length = length;
	for (size_t i = 0; i < authorities->count; i++) {
		size_t count = authorities->lengths[i];
		memcpy(at, &count, sizeof count);
		memcpy(at + sizeof count, authorities->bytes[i], count);
		at += sizeof count + count;
		*at++ = 0;
	}
	// FNV-1a. A session is resumed only with the same CA certificates.
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ connection->authorities[i]) * 16777619u;
	connection->trust_id = hash;
	return ESP_OK;
}

static int parse(struct mote_tls_connection *connection)
{
	const uint8_t *at = connection->authorities, *end = at + connection->authorities_length;
	while (at < end) {
		size_t count;
		memcpy(&count, at, sizeof count);
		at += sizeof count;
		int error = at[0] == '-' ? mbedtls_x509_crt_parse(&connection->trusted, at, count + 1)
						       : mbedtls_x509_crt_parse_der_nocopy(&connection->trusted, at, count);
		if (error)
			return error < 0 ? error : MBEDTLS_ERR_X509_INVALID_FORMAT;
		at += count + 1;
	}
	return 0;
}

/** A star matches exactly one label, the first, of a name with three labels or more. */
static bool name_matches(const char *host, size_t length, const char *wanted)
{
	if (length < 2 || host[0] != '*' || host[1] != '.')
		return strlen(wanted) == length && 0 == strncasecmp(host, wanted, length) && !memchr(host, '*', length);
	const char *dot = strchr(wanted, '.');
	const char *rest = host + 1;
	size_t left = length - 1;
	return dot && dot != wanted && memchr(rest + 1, '.', left - 1) && !memchr(rest, '*', left) && strlen(dot) == left && 0 == strncasecmp(rest, dot, left);
}

static bool address_of(const char *text, uint8_t into[4])
{
	for (int i = 0; i < 4; i++) {
		char *end;
		unsigned long part = strtoul(text, &end, 10);
		if (end == text || part > 255 || *end != (i < 3 ? '.' : 0))
			return false;
		into[i] = (uint8_t)part;
		text = end + 1;
	}
	return true;
}

/** True if subjectAltName contains the server's name. Never compares the common name. */
static bool names_server(const mbedtls_x509_crt *certificate, const struct mote_tls_connection *connection)
{
	uint8_t address[4];
	if (!(certificate->MBEDTLS_PRIVATE(ext_types) & MBEDTLS_X509_EXT_SUBJECT_ALT_NAME))
		return false;
	if (connection->is_address && !address_of(connection->name, address))
		return false;
	for (const mbedtls_x509_sequence *one = &certificate->subject_alt_names; one && one->buf.p; one = one->next) {
		if (connection->is_address && one->buf.tag == TAG_ADDRESS && one->buf.len == 4 && 0 == memcmp(one->buf.p, address, 4))
			return true;
		if (!connection->is_address && one->buf.tag == TAG_NAME && name_matches((const char *)one->buf.p, one->buf.len, connection->name))
			return true;
	}
	return false;
}

/** For an unknown issuer: an error text if the peer sent the issuer, but it is not a CA. */
static const char *why_unknown(const mbedtls_x509_crt *certificate, int depth)
{
	for (const mbedtls_x509_crt *other = certificate->next; other; other = other->next) {
		if (other->subject_raw.len != certificate->issuer_raw.len || memcmp(other->subject_raw.p, certificate->issuer_raw.p, other->subject_raw.len))
			continue;
		// mbedTLS adds one to pathLenConstraint; 0 means none.
		if (!other->MBEDTLS_PRIVATE(ca_istrue) || (other->MBEDTLS_PRIVATE(max_pathlen) > 0 && other->MBEDTLS_PRIVATE(max_pathlen) < 1 + depth))
			return "certificate: its issuer is not a CA";
	}
	return NULL;
}

/** Seconds since 1970, limited to 0 and UINT32_MAX. */
static uint32_t seconds_of(const mbedtls_x509_time *time)
{
	// Days count from March, so that the leap day comes last in its year.
	int64_t year = time->year - (time->mon <= 2);
	int64_t days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * (time->mon > 2 ? time->mon - 3 : time->mon + 9) + 2) / 5 + time->day - 1 - 719468;
	int64_t seconds = ((days * 24 + time->hour) * 60 + time->min) * 60 + time->sec;
	return seconds < 0 ? 0 : seconds > UINT32_MAX ? UINT32_MAX : (uint32_t)seconds;
}

static void narrow_validity(struct mote_tls_validity *chain, const mbedtls_x509_crt *certificate)
{
	uint32_t from = seconds_of(&certificate->valid_from), to = seconds_of(&certificate->valid_to);
	if (from > chain->from)
		chain->from = from;
	if (to < chain->to)
		chain->to = to;
}

void mote_tls_trust_keep_dates(struct mote_tls_connection *connection)
{
	if (connection->chain_checked && !(mbedtls_ssl_get_verify_result(&connection->ssl) & ~DATES))
		connection->validity = connection->chain;
}

/** Faults of the certificates above the one being checked. Only one task verifies chains. */
static uint32_t faults_above;

/** True if the bundle of the image has the certificate's issuer, and its key made the signature. */
static bool bundle_knows_issuer(const struct mote_tls_connection *connection, mbedtls_x509_crt *certificate, int depth)
{
	uint32_t flags = MBEDTLS_X509_BADCERT_NOT_TRUSTED;
	if (!connection->bundle)
		return false;
	connection->bundle(connection->bundle_context, certificate, depth, &flags);
	return flags == 0;
}

/**
 * Called by mbedTLS for each certificate of a chain, the CA's first. Adds faults to `flags`.
 *
 * A server may send a root that an older CA signed too. mbedTLS then builds the chain up to that
 * certificate, although the bundle has the root itself. So a certificate's faults are reported with
 * the leaf, unless the bundle knows the issuer of a certificate below it.
 */
static int check_certificate(void *context, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
	struct mote_tls_connection *connection = context;
	bool begins = !connection->chain_checked;
	uint32_t above = begins ? 0 : faults_above, other = *flags & ~(DATES | MBEDTLS_X509_BADCERT_NOT_TRUSTED);
	connection->chain_checked = true;
	if (*flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED)
		connection->refusal = why_unknown(certificate, depth);
	bool is_doubtful = above || (*flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED);
	if (is_doubtful && !other && bundle_knows_issuer(connection, certificate, depth)) {
		*flags &= DATES;
		above = 0;
		begins = true;
		connection->refusal = NULL;
	}
	if (begins)
		connection->chain = (struct mote_tls_validity){0, UINT32_MAX};
	narrow_validity(&connection->chain, certificate);
	if (depth == 0 && !names_server(certificate, connection))
		*flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
	faults_above = above | *flags;
	*flags = depth == 0 ? faults_above : 0;
	return 0;
}

int mote_tls_trust_set_up(struct mote_tls_connection *connection)
{
	mbedtls_ssl_config *config = &connection->config;
	mbedtls_ssl_conf_authmode(config, MBEDTLS_SSL_VERIFY_REQUIRED);
	if (connection->authorities) {
		int error = parse(connection);
		if (error)
			return error;
	}
#if CONFIG_MBEDTLS_CERTIFICATE_BUNDLE
	if (!connection->authorities && ESP_OK == esp_crt_bundle_attach(config)) {
		connection->bundle = config->MBEDTLS_PRIVATE(f_vrfy);
		connection->bundle_context = config->MBEDTLS_PRIVATE(p_vrfy);
	}
#endif
	// Replaces the bundle's own chain, which is an empty certificate.
	if (connection->authorities)
		mbedtls_ssl_conf_ca_chain(config, &connection->trusted, NULL);
	mbedtls_ssl_conf_verify(config, check_certificate, connection);
	// An address must not be sent as a server name.
	return mbedtls_ssl_set_hostname(&connection->ssl, connection->is_address ? NULL : connection->name);
}

void mote_tls_trust_drop(struct mote_tls_connection *connection)
{
	mbedtls_x509_crt_free(&connection->trusted);
	mbedtls_x509_crt_init(&connection->trusted);
	free(connection->authorities);
	connection->authorities = NULL;
}
