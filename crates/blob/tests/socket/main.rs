//! The Blob service over a real socket: what a client sends and what it gets back.

mod access;
mod blobs;
mod client;
mod containers;
mod history;
mod matrix;
mod service;
