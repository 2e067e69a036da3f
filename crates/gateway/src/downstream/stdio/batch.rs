//! Several messages in one line, which one version of the protocol has. They are answered one after the other, as if each
//! had come alone, and their answers go out in one line. None of them can be cancelled by itself.

use std::sync::Arc;

use bytes::Bytes;
use countersign_inspect::ClientEra;

use super::StdioClient;
use crate::downstream::batch;
use crate::downstream::mcp;
use crate::downstream::message::{Message, MessageKind};
use crate::path::reply::{self, Body, Problem};

impl StdioClient {
    /// Answers each message that wants an answer.
    pub(super) async fn take_batch(self: &Arc<Self>, line: &Bytes) {
        let messages = match batch::messages(line) {
            Ok(messages) => messages,
            Err(problem) => return self.send_problem(None, &problem).await,
        };
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
            return;
        };
        let (client, work) = (Arc::clone(self), self.runtime.services.drain.work());
        tokio::spawn(async move {
            let _held = (place, work);
            let mut replies = Vec::new();
            for message in messages {
                replies.extend(client.answer_in_batch(message).await);
            }
            if !replies.is_empty() {
                client.send(reply::batch(&replies).body.into_bytes()).await;
            }
        });
    }

    async fn answer_in_batch(&self, message: Bytes) -> Option<Bytes> {
        let refused = |id: Option<&Bytes>, problem: &Problem| {
            let reply = reply::problem(id.map(|id| &id[..]), problem, ClientEra::Legacy);
            Some(reply.body.into_bytes())
        };
        let (id, method, message) = match Message::parse(message) {
            Ok((MessageKind::Request { id, method }, message)) => (id, method, message),
            Ok((MessageKind::Notification { method }, message)) => {
                self.take_notification(&method, &message);
                return None;
            }
            Ok((MessageKind::Response, message)) => {
                mcp::answer_server(&self.pipe.session, &message);
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
                        self.send(note).await;
                    }
                }
                last
            }
            whole => Some(whole.into_bytes()),
        }
    }
}
