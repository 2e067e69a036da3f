//! Exchanges with real servers on the loopback interface, honest and hostile ones.

mod discovery;
mod hostile;
mod keys;
mod login;
mod peer;
