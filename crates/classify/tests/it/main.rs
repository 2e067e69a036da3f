//! Classifiers against a local server that looks at every byte of the request and plays back what providers answer.

mod aws;
mod azure;
mod faults;
mod nemo;
mod provider;
mod support;
mod webhook;
