// The class whose methods are in tls_module.c. `event` is called in the engine's own turns, with what happened (TLS_OPENED ...) and, at the end, why.
class Tls extends Native("mote_tls_destructor") {
  constructor(name, address, port, authorities, event) {
    super();
    native("mote_tls_constructor").call(this, name, address, port, authorities);
    this.event = event;
  }
  write(bytes) {
    return native("mote_tls_write").call(this, bytes);
  }
  read(into) {
    return native("mote_tls_read").call(this, into);
  }
  close() {
    native("mote_tls_close").call(this);
  }
}

export default Tls;
