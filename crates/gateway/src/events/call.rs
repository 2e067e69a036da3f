//! About calls: that one was answered, or that its records were lost.

event! {
    /// A call was answered.
    CallAnswered<'a> { server: &'a str, tool: &'a str, decision: &'static str, micros: u64 }
    counts calls, logs debug "call answered"
}

event! {
    /// A call's records were lost.
    Unrecorded<'a> { server: &'a str, tool: &'a str, refused: bool }
    counts unrecorded, logs error "the activity store did not take a call's records"
}
