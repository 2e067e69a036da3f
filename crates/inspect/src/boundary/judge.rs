//! The answer to a request, judged as the request asks for.

use bytes::Bytes;

use super::Boundary;
use super::era::{client_era, negotiated_era};
use super::passed::Passed;
use super::request::{Question, Request};
use super::tool_list::ToolList;
use crate::emit::inspected::Inspected;
use crate::era::Era;
use crate::examine::examine;
use crate::judge::contract::Contract;
use crate::open::reply::{RawReply, Source};
use crate::screen::screening::{Screening, SkipReason};

impl Boundary {
    /// Judges the answer to a request. `id` is the one that the answer must carry.
    pub(super) fn judge(&self, request: Request, id: Bytes, message: Bytes) -> Passed {
        let era = request.era.or(self.state().era);
        match &request.question {
            Question::Call(contract) => {
                let inspected = self.inspect(message, id, contract, era);
                self.inspector.note_violations(&inspected, contract);
                Passed::called(
                    (request.client_id, client_era(era)),
                    contract,
                    inspected,
                    request.input,
                )
            }
            Question::ToolList => {
                let list = ToolList::read(&message, &self.inspector, client_era(era));
                let shown = list.as_ref().map_or(message, |list| list.shown().clone());
                let inspected = self.inspect(shown, id, &self.undeclared("tools/list"), era);
                if let Some(list) = list.filter(|_| !inspected.is_authored()) {
                    list.keep_contracts(&self.inspector);
                }
                Passed::other(&request.client_id, &inspected)
            }
            Question::Initialize => {
                let negotiated = negotiated_era(&message);
                let inspected = self.inspect(message, id, &self.undeclared("initialize"), era);
                self.state().era = negotiated;
                Passed::other(&request.client_id, &inspected)
            }
            Question::Other(method) => {
                let inspected = self.inspect(message, id, &self.undeclared(method), era);
                Passed::other(&request.client_id, &inspected)
            }
        }
    }

    fn undeclared(&self, method: &str) -> Contract {
        Contract::undeclared(self.inspector.tool_name(method))
    }

    fn inspect(
        &self,
        message: Bytes,
        id: Bytes,
        contract: &Contract,
        era: Option<Era>,
    ) -> Inspected {
        let mut policy = self.inspector.policy(contract.tool()).clone();
        policy.client = client_era(era);
        let source = Source::new(era.unwrap_or_default()).with_request_id(id);
        let skipped = Screening::skipped(SkipReason::NotConfigured);
        examine(RawReply::new(message, source), contract, &policy)
            .conclude_with(skipped, &*self.randomness)
    }
}
