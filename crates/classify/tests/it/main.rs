//! Classifiers against a local server that looks at every byte of the request and plays back what providers answer.

mod aws;
mod azure;
mod faults;
mod nemo;
mod provider;
#[cfg(feature = "local-model")]
mod real_model;
mod real_nemo;
mod support;
mod webhook;
