//! SPNEGO and NTLM: whatever is said, nobody gets in without the key.

use zaffre_auth::Accounts;
use zaffre_auth::ntlm::{Acceptor, Authenticate, Negotiate, Step, Token};

const NEGOTIATE: &[u8] = b"NTLMSSP\0\x01\0\0\0\x97\x82\x08\xe2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// The target.
pub fn run(input: &[u8]) {
    let _ = (Token::parse(input), Negotiate::parse(input), Authenticate::parse(input));
    let accounts = Accounts::development();
    for first in [Some(NEGOTIATE), None] {
        let mut acceptor = Acceptor::new("ZAFFRE");
        let tokens = first.into_iter().chain(input.split(|byte| *byte == 0xFE)).chain([input]);
        for token in tokens {
            match acceptor.step(&accounts, token, [7; 8], 5) {
                Ok(Step::Continue(answer)) => assert!(!answer.is_empty()),
                Ok(Step::Done(_)) => panic!("somebody got in"),
                Err(_) => break,
            }
        }
    }
}
