// A digest by ESP-IDF's mbedTLS, which is in the image for TLS. Its methods are in digest_module.c.
class Digest extends Native("mote_digest_destructor") {
  constructor(name) {
    super();
    native("mote_digest_constructor").call(this, name);
  }
  write(bytes) {
    native("mote_digest_write").call(this, bytes);
  }
  close() {
    return native("mote_digest_close").call(this);
  }
}

export default Digest;
