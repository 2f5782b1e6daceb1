//! The server over real sockets, spoken to in raw bytes.

mod plain;
mod support;
mod tls;
