//! DCE/RPC on a pipe: every answer is made of whole messages.

use zaffre_smb::rpc::dcerpc::{self, Endpoint, Event};
use zaffre_smb::rpc::srvsvc::{self, View};

/// The target.
pub fn run(input: &[u8]) {
    let shares = ["docs".to_owned(), "pictures".to_owned()];
    let view = View { server: "ZAFFRE", shares: &shares };
    for operation in [15, 16, 21, 99] {
        let _ = srvsvc::run(view, operation, input);
    }
    let mut endpoint = Endpoint::default();
    let mut rest = input;
    while let Ok(Some(length)) = dcerpc::message_length(rest) {
        let Some((message, after)) = rest.split_at_checked(length) else { break };
        rest = after;
        let Ok(event) = endpoint.take(message) else { break };
        let answer = match event {
            Event::Answer(answer) => answer,
            Event::More => continue,
            Event::Call(call) => match srvsvc::run(view, call.operation, &call.stub) {
                Ok(stub) => dcerpc::response(&call, &stub),
                Err(code) => dcerpc::fault(&call, code),
            },
        };
        let mut left = answer.as_slice();
        while !left.is_empty() {
            let length = dcerpc::message_length(left).expect("well formed").expect("whole");
            left = left.get(length..).expect("whole messages");
        }
    }
}
