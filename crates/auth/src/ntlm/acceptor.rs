//! One dialogue, from the first token to a key holder or a refusal.
//!
//! Must never say why it refuses: names and keys fail alike, in the same time.

use super::key_holder::KeyHolder;
use super::message::{self, Authenticate, KEY_EXCHANGE, Negotiate};
use super::proof::{self, Side};
use super::spnego::{self, State, Token};
use crate::accounts::{Account, Accounts};
use subtle::ConstantTimeEq;
use zaffre_base::secret::same_bytes;
use zaffre_base::{AccountName, Secret, base64};

/// A dialogue under way.
#[derive(Debug)]
pub struct Acceptor {
    name: String,
    /// The client's list of mechanisms, if it speaks SPNEGO.
    mechanisms: Option<Vec<u8>>,
    asked: Option<Asked>,
}

/// What was said before the proof.
#[derive(Debug)]
struct Asked {
    negotiate: Vec<u8>,
    challenge: Vec<u8>,
    random: [u8; 8],
}

/// The end of a dialogue.
#[derive(Debug)]
pub struct Accepted {
    /// Who it is.
    pub holder: KeyHolder,
    /// The key that both sides know now.
    pub session_key: Secret<[u8; 16]>,
    /// The server's last token.
    pub token: Vec<u8>,
}

/// What comes next.
#[derive(Debug)]
pub enum Step {
    /// This token, then one more from the client.
    Continue(Vec<u8>),
    /// The client has proven who it is.
    Done(Box<Accepted>),
}

/// The dialogue failed. Why the proof was not taken is nobody's business.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// It is not what a dialogue looks like.
    Malformed,
    /// Nobody we know, or not proven.
    Denied,
}

impl Acceptor {
    /// A new dialogue; `name` is what the server calls itself.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), mechanisms: None, asked: None }
    }

    /// Takes the client's next token. `random` is drawn anew for every call, and `filetime` is now.
    pub fn step(
        &mut self,
        accounts: &Accounts,
        token: &[u8],
        random: [u8; 8],
        filetime: u64,
    ) -> Result<Step, Refused> {
        let (inner, integrity) = match Token::parse(token).ok_or(Refused::Malformed)? {
            Token::Raw(inner) => (Some(inner), None),
            Token::Init { mechanisms, ntlm, token, integrity } => {
                let first = ntlm.ok_or(Refused::Denied)?;
                if self.mechanisms.replace(mechanisms).is_some() || self.asked.is_some() {
                    return Err(Refused::Denied);
                }
                (token.filter(|_| first), integrity)
            }
            Token::Response { token, integrity } => {
                if self.mechanisms.is_none() {
                    return Err(Refused::Denied);
                }
                (Some(token.ok_or(Refused::Malformed)?), integrity)
            }
        };
        match (inner, self.asked.take()) {
            // Another mechanism came first, or ours without a word: ours it will be.
            (None, _) => Ok(Step::Continue(spnego::response(State::Incomplete, true, None, None))),
            (Some(inner), None) => self.challenge(inner, random, filetime),
            (Some(inner), Some(asked)) => {
                self.finish(accounts, &asked, &inner, integrity.as_deref())
            }
        }
    }

    fn challenge(&mut self, negotiate: Vec<u8>, random: [u8; 8], at: u64) -> Result<Step, Refused> {
        let flags = Negotiate::parse(&negotiate).ok_or(Refused::Malformed)?.flags;
        let challenge = message::challenge(flags, &self.name, random, at);
        let token = if self.mechanisms.is_some() {
            spnego::response(State::Incomplete, true, Some(&challenge), None)
        } else {
            challenge.clone()
        };
        self.asked = Some(Asked { negotiate, challenge, random });
        Ok(Step::Continue(token))
    }

    fn finish(
        &self,
        accounts: &Accounts,
        asked: &Asked,
        inner: &[u8],
        integrity: Option<&[u8]>,
    ) -> Result<Step, Refused> {
        let said = Authenticate::parse(inner)?;
        let name = AccountName::parse(&said.user.to_ascii_lowercase()).ok();
        let account = name.and_then(|name| accounts.get(&name)).filter(|a| a.allows_key_access());
        let base = base_key(account, asked, &said).ok_or(Refused::Denied)?;
        let account = account.ok_or(Refused::Denied)?;
        let exchanges = said.flags & KEY_EXCHANGE != 0;
        let key = match (exchanges, said.key) {
            (true, Some(sent)) => proof::exchanged(&base, sent),
            (true, None) => return Err(Refused::Malformed),
            (false, _) => base,
        };
        if let Some(sent) = said.integrity {
            let blank = Authenticate::without_integrity(inner).ok_or(Refused::Denied)?;
            let made = proof::integrity(&key, &[&asked.negotiate, &asked.challenge, &blank]);
            if !same_bytes(&made, &sent) {
                return Err(Refused::Denied);
            }
        }
        let token = match &self.mechanisms {
            None => Vec::new(),
            Some(mechanisms) => {
                let sign = |side| proof::signature(&key, side, exchanges, mechanisms);
                let ours = match integrity {
                    Some(sent) if !same_bytes(&sign(Side::Client), sent) => {
                        return Err(Refused::Denied);
                    }
                    Some(_) => Some(sign(Side::Server)),
                    None => None,
                };
                spnego::response(State::Completed, false, None, ours.as_ref().map(|o| &o[..]))
            }
        };
        let holder = KeyHolder::new(account.name().clone());
        Ok(Step::Done(Box::new(Accepted { holder, session_key: key, token })))
    }
}

/// The session's base key if the proof is right for any key of the account. Somebody unknown takes
/// as long as somebody with a wrong key.
fn base_key(
    account: Option<&Account>,
    asked: &Asked,
    said: &Authenticate,
) -> Option<Secret<[u8; 16]>> {
    const NOBODYS: &[u8] = &[0; 64];
    let mut passwords: Vec<String> = account
        .into_iter()
        .flat_map(Account::keys)
        .map(|key| base64::encode(key.expose()))
        .collect();
    if passwords.is_empty() {
        passwords.push(base64::encode(NOBODYS));
    }
    let mut found = None;
    for password in passwords {
        let key = proof::response_key(&password, &said.user, &said.domain);
        let made = proof::proof(&key, asked.random, &said.blob);
        let base = proof::base_key(&key, &made);
        if bool::from(made.ct_eq(&said.proof)) && account.is_some() {
            found = Some(base);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::proof::{base_key as base_of, exchanged, integrity, response_key, utf16};
    use super::super::spnego::{KERBEROS, NTLM_OID, client_init};
    use super::*;
    use crate::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};

    const NEGOTIATE: &[u8] = b"NTLMSSP\0\x01\0\0\0\x97\x82\x08\xe2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    const RANDOM: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

    #[expect(clippy::struct_excessive_bools, reason = "each is one way to be wrong")]
    struct Client<'a> {
        user: &'a str,
        password: &'a str,
        with_mic: bool,
        spoil_mic: bool,
        short: bool,
        guess_key: bool,
        no_exchange: bool,
    }

    const GOOD: Client<'static> = Client {
        user: DEVELOPMENT_ACCOUNT,
        password: DEVELOPMENT_KEY,
        with_mic: true,
        spoil_mic: false,
        short: false,
        guess_key: false,
        no_exchange: false,
    };

    impl Client<'_> {
        fn answer(&self, challenge: &[u8]) -> Vec<u8> {
            let random: [u8; 8] = challenge[24..32].try_into().expect("8 bytes");
            let key = response_key(self.password, self.user, &utf16("AZURE"));
            let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
            blob.extend([0; 20]);
            if self.with_mic {
                blob.extend([6, 0, 4, 0, 2, 0, 0, 0]);
            }
            blob.extend([0; 4]);
            let proven = proof::proof(&key, random, &blob);
            let base = base_of(&key, &proven);
            let sent = [0x33; 16];
            let (key, flags) = if self.no_exchange {
                (base, 0xA208_8297_u32)
            } else {
                (exchanged(&base, sent), 0xE208_8297)
            };
            let mut response = [&proven[..], &blob].concat();
            if self.short {
                response.truncate(24);
            }
            let mut message = b"NTLMSSP\0\x03\0\0\0".to_vec();
            let mut tail = Vec::new();
            for value in [vec![], response, utf16("AZURE"), utf16(self.user), vec![], sent.to_vec()]
            {
                let length = u16::try_from(value.len()).expect("short").to_le_bytes();
                message.extend(length);
                message.extend(length);
                message.extend(u32::try_from(88 + tail.len()).expect("short").to_le_bytes());
                tail.extend(value);
            }
            message.extend(flags.to_le_bytes());
            message.extend([0; 24]);
            message.extend(tail);
            if self.with_mic {
                let mut mic = integrity(&key, &[NEGOTIATE, challenge, &message]);
                mic[0] ^= u8::from(self.spoil_mic);
                message[72..88].copy_from_slice(&mic);
            }
            if self.guess_key {
                let at = message.len() - 1;
                message[at] ^= 1;
            }
            message
        }
    }

    fn raw(client: &Client<'_>, accounts: &Accounts) -> Result<Box<Accepted>, Refused> {
        let mut acceptor = Acceptor::new("zaffre");
        let Step::Continue(challenge) = acceptor.step(accounts, NEGOTIATE, RANDOM, 5)? else {
            panic!("a challenge")
        };
        match acceptor.step(accounts, &client.answer(&challenge), [0; 8], 6)? {
            Step::Done(done) => Ok(done),
            Step::Continue(_) => panic!("an end"),
        }
    }

    #[test]
    fn who_is_let_in() {
        let accounts = Accounts::development();
        let done = raw(&GOOD, &accounts).expect("the right key");
        assert_eq!(done.holder.account().as_str(), DEVELOPMENT_ACCOUNT);
        assert!(done.token.is_empty());
        let upper = DEVELOPMENT_ACCOUNT.to_uppercase();
        for (client, why) in [
            (Client { user: "somebody", ..GOOD }, "unknown"),
            (Client { user: "", ..GOOD }, "anonymous"),
            (Client { password: "", ..GOOD }, "no password"),
            (Client { password: &DEVELOPMENT_KEY[1..], ..GOOD }, "wrong key"),
            (Client { spoil_mic: true, ..GOOD }, "wrong code"),
            (Client { short: true, ..GOOD }, "NTLMv1"),
            (Client { guess_key: true, ..GOOD }, "changed key"),
        ] {
            assert_eq!(raw(&client, &accounts).err(), Some(Refused::Denied), "{why}");
        }
        for client in [
            Client { with_mic: false, ..GOOD },
            Client { user: &upper, ..GOOD },
            Client { no_exchange: true, ..GOOD },
        ] {
            assert!(raw(&client, &accounts).is_ok());
        }
    }

    #[test]
    fn either_key_and_only_with_key_access() {
        let accounts = Accounts::parse_env("acc1:Zmlyc3Q=:c2Vjb25k").expect("an account");
        for password in ["Zmlyc3Q=", "c2Vjb25k"] {
            assert!(raw(&Client { user: "acc1", password, ..GOOD }, &accounts).is_ok());
        }
        let closed: Accounts = accounts.iter().map(|a| a.clone().without_key_access()).collect();
        let client = Client { user: "acc1", password: "Zmlyc3Q=", ..GOOD };
        assert_eq!(raw(&client, &closed).err(), Some(Refused::Denied));
    }

    #[test]
    fn inside_spnego() {
        let accounts = Accounts::development();
        for (oids, optimistic) in [(&[NTLM_OID][..], true), (&[KERBEROS, NTLM_OID], false)] {
            let mut acceptor = Acceptor::new("zaffre");
            let first = client_init(oids, Some(if optimistic { NEGOTIATE } else { b"ticket" }));
            let mut step = acceptor.step(&accounts, &first, RANDOM, 5).expect("goes on");
            if !optimistic {
                let next = spnego::response(State::Incomplete, false, Some(NEGOTIATE), None);
                step = acceptor.step(&accounts, &next, RANDOM, 5).expect("goes on");
            }
            let Step::Continue(token) = step else { panic!("a challenge") };
            let Some(Token::Response { token: Some(challenge), .. }) = Token::parse(&token) else {
                panic!("a response")
            };
            let answer = GOOD.answer(&challenge);
            let spoiled = spnego::response(State::Incomplete, false, Some(&answer), Some(&[0; 16]));
            let mut again = Acceptor {
                name: String::new(),
                mechanisms: acceptor.mechanisms.clone(),
                asked: Some(Asked {
                    negotiate: NEGOTIATE.to_vec(),
                    challenge: challenge.clone(),
                    random: RANDOM,
                }),
            };
            assert_eq!(again.step(&accounts, &spoiled, RANDOM, 6).err(), Some(Refused::Denied));
            let last = spnego::response(State::Incomplete, false, Some(&answer), None);
            let mechanisms = acceptor.mechanisms.clone().expect("a list");
            let Ok(Step::Done(done)) = acceptor.step(&accounts, &last, RANDOM, 6) else {
                panic!("an end")
            };
            let Some(Token::Response { integrity, .. }) = Token::parse(&done.token) else {
                panic!("a response")
            };
            assert_eq!(integrity, None, "no signature for one that was not sent");
            let sign = |side| proof::signature(&done.session_key, side, true, &mechanisms);
            let signed = spnego::response(
                State::Incomplete,
                false,
                Some(&answer),
                Some(&sign(Side::Client)),
            );
            again.asked = Some(Asked { negotiate: NEGOTIATE.to_vec(), challenge, random: RANDOM });
            let Ok(Step::Done(done)) = again.step(&accounts, &signed, RANDOM, 6) else {
                panic!("an end")
            };
            let Some(Token::Response { integrity, .. }) = Token::parse(&done.token) else {
                panic!("a response")
            };
            assert_eq!(integrity, Some(sign(Side::Server).to_vec()));
        }
        let first = client_init(&[KERBEROS], None);
        let refused = Acceptor::new("zaffre").step(&accounts, &first, RANDOM, 5);
        assert_eq!(refused.err(), Some(Refused::Denied));
    }

    #[test]
    fn a_list_of_mechanisms_comes_first_and_once() {
        let accounts = Accounts::development();
        let first = client_init(&[KERBEROS, NTLM_OID], None);
        let with_ours = client_init(&[NTLM_OID], Some(NEGOTIATE));
        for (before, again) in
            [(&first, &first), (&first, &with_ours), (&with_ours, &first), (&with_ours, &with_ours)]
        {
            let mut acceptor = Acceptor::new("zaffre");
            assert!(matches!(acceptor.step(&accounts, before, RANDOM, 5), Ok(Step::Continue(_))));
            assert_eq!(acceptor.step(&accounts, again, RANDOM, 5).err(), Some(Refused::Denied));
        }
        let mut acceptor = Acceptor::new("zaffre");
        assert!(acceptor.step(&accounts, NEGOTIATE, RANDOM, 5).is_ok());
        assert_eq!(acceptor.step(&accounts, &first, RANDOM, 5).err(), Some(Refused::Denied));
        let response = spnego::response(State::Incomplete, false, Some(NEGOTIATE), None);
        let refused = Acceptor::new("zaffre").step(&accounts, &response, RANDOM, 5);
        assert_eq!(refused.err(), Some(Refused::Denied), "no list before it");
    }

    #[test]
    fn a_challenge_is_good_for_one_answer() {
        let accounts = Accounts::development();
        let mut acceptor = Acceptor::new("zaffre");
        let Ok(Step::Continue(challenge)) = acceptor.step(&accounts, NEGOTIATE, RANDOM, 5) else {
            panic!("a challenge")
        };
        let wrong = Client { password: "wrong", ..GOOD }.answer(&challenge);
        assert!(acceptor.step(&accounts, &wrong, RANDOM, 5).is_err());
        assert!(acceptor.step(&accounts, &GOOD.answer(&challenge), RANDOM, 5).is_err());
    }
}
