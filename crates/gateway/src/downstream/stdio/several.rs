//! Several messages in one line, which one version of the protocol has. They are answered one after the other, as if each
//! had come alone, and their answers go out in one line. None of them can be cancelled by itself.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;

use super::Door;
use crate::downstream::batch;
use crate::downstream::message::{Message, Sort};
use crate::path::reply::{self, Body, Problem};

impl Door {
    /// Answers each message that wants an answer.
    pub(super) async fn take_several(self: &Arc<Self>, line: &Bytes) {
        let messages = match batch::messages(line) {
            Ok(messages) => messages,
            Err(problem) => return self.complain(None, &problem).await,
        };
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return;
        };
        let (door, work) = (Arc::clone(self), self.runtime.services.drain.work());
        tokio::spawn(async move {
            let _held = (place, work);
            let mut replies = Vec::new();
            for message in messages {
                replies.extend(door.one_of_several(message).await);
            }
            if !replies.is_empty() {
                door.say(reply::several(&replies).body.into_bytes()).await;
            }
        });
    }

    async fn one_of_several(&self, message: Bytes) -> Option<Bytes> {
        let refused = |id: Option<&Bytes>, problem: &Problem| {
            let reply = reply::problem(id.map(|id| &id[..]), problem, ClientEra::Legacy);
            Some(reply.body.into_bytes())
        };
        let sorted = Message::read(message).and_then(|message| Ok((message.sort()?, message)));
        let (id, method, message) = match sorted {
            Ok((Sort::Request { id, method }, message)) => (id, method, message),
            Ok((Sort::Notification { method }, message)) => {
                self.heed(&method, &message);
                return None;
            }
            Ok((Sort::Response, message)) => {
                self.answered(&message);
                return None;
            }
            Err(problem) => return refused(None, &problem),
        };
        if method == "initialize" {
            return refused(Some(&id), &Problem::Invalid("initialize stands alone"));
        }
        if !self.is_up().await {
            return refused(Some(&id), &Problem::Gone);
        }
        match self.reply(message).await {
            Body::Stream(mut messages) => {
                // The reply comes last; what comes before it is told at once.
                let mut last = None;
                while let Some(message) = messages.recv().await {
                    if let Some(note) = last.replace(message) {
                        self.say(note).await;
                    }
                }
                last
            }
            whole => Some(whole.into_bytes()),
        }
    }
}
