//! Keeps new clients from connecting to a socket that is about to close. The kernel completes connections on its own and puts
//! them into a queue; whatever is in that queue when the socket closes is reset, and its client may have sent a request.
//!
//! So a packet filter drops the first packet of each new connection (SYN) from now on. The queue can then be emptied for
//! good. The client repeats the packet after a second, finds the port closed, and is refused, as it must be.

use std::io;

use socket2::{SockFilter, SockRef};
use tokio::net::TcpListener;

// Instructions of the classic BPF machine, from linux/bpf_common.h.
const LOAD_BYTE_AT: u16 = 0x30;
const JUMP_IF_BITS: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Where a TCP header has its flags. A filter of a TCP socket sees each packet from its TCP header on.
const FLAGS: u32 = 13;
const SYN: u32 = 0x02;
const DROP: u32 = 0;
const PASS: u32 = u32::MAX;

/// Drops the first packet of every new connection to this socket.
pub(super) fn attach(listener: &TcpListener) -> io::Result<()> {
    let program = [
        SockFilter::new(LOAD_BYTE_AT, 0, 0, FLAGS),
        SockFilter::new(JUMP_IF_BITS, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, DROP),
        SockFilter::new(RETURN, 0, 0, PASS),
    ];
    SockRef::from(listener).attach_filter(&program)
}
