// A TLS connection. Its methods are in mote_tls_module.c. `event` gets the events as bits, such as
// MOTE_TLS_OPENED, and with MOTE_TLS_CLOSED the reason.
class Tls extends Native("mote_tls_js_destructor") {
  constructor(name, address, port, authorities, event) {
    super();
    native("mote_tls_js_constructor").call(this, name, address, port, authorities);
    this.event = event;
  }
  write(bytes) {
    return native("mote_tls_js_write").call(this, bytes);
  }
  read(into) {
    return native("mote_tls_js_read").call(this, into);
  }
  close() {
    native("mote_tls_js_close").call(this);
  }
}

export default Tls;
