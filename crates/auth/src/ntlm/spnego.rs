//! SPNEGO: the envelope in which NTLM is agreed on, in DER.
//!
//! Must never recurse, nor believe a length: each value is cut out of the one that holds it.

const SPNEGO: &[u8] = &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x02];
const NTLMSSP: &[u8] = &[0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x02, 0x02, 0x0A];
const HINT: &[u8] = b"not_defined_in_RFC4178@please_ignore";

const APPLICATION: u8 = 0x60;
const SEQUENCE: u8 = 0x30;
const OID: u8 = 0x06;
const OCTETS: u8 = 0x04;
const ENUMERATED: u8 = 0x0A;
const GENERAL_STRING: u8 = 0x1B;
const INIT: u8 = 0xA0;
const RESPONSE: u8 = 0xA1;

/// Most mechanisms that a client may offer.
const MOST_MECHANISMS: usize = 32;

/// What a client's token says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// NTLM without an envelope.
    Raw(Vec<u8>),
    /// The first token.
    Init {
        /// The list of mechanisms as it was sent: its signature covers these bytes.
        mechanisms: Vec<u8>,
        /// Whether NTLM is in the list, and whether it is the first.
        ntlm: Option<bool>,
        /// What the first mechanism says already.
        token: Option<Vec<u8>>,
        /// The signature of the list.
        integrity: Option<Vec<u8>>,
    },
    /// A later one.
    Response {
        /// What the mechanism says.
        token: Option<Vec<u8>>,
        /// The signature of the list.
        integrity: Option<Vec<u8>>,
    },
}

/// One value: its tag, what it holds, and what follows it.
fn value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7F);
        if count == 0 || count > 3 {
            return None;
        }
        let length = rest.get(..count)?.iter().fold(0, |sum, b| (sum << 8) | usize::from(*b));
        (length, rest.get(count..)?)
    };
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

fn expect(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    value(bytes).filter(|(found, ..)| *found == tag).map(|(_, inner, _)| inner)
}

/// The explicitly tagged fields of a sequence, by number.
fn fields(sequence: &[u8]) -> Option<[Option<&[u8]>; 5]> {
    let mut found = [None; 5];
    let mut rest = expect(sequence, SEQUENCE)?;
    while !rest.is_empty() {
        let (tag, inner, after) = value(rest)?;
        let slot = found.get_mut(usize::from(tag.checked_sub(0xA0)?))?;
        *slot = Some(inner);
        rest = after;
    }
    Some(found)
}

/// The octets in a field; a field that is not there has none.
fn octets(field: Option<&[u8]>) -> Result<Option<Vec<u8>>, NotOctets> {
    let Some(field) = field else { return Ok(None) };
    expect(field, OCTETS).map(|octets| Some(octets.to_vec())).ok_or(NotOctets)
}

/// A field that should hold octets holds something else.
struct NotOctets;

impl Token {
    /// Reads one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"NTLMSSP\0") {
            return Some(Self::Raw(bytes.to_vec()));
        }
        match value(bytes)? {
            (APPLICATION, inner, _) => {
                let (tag, oid, rest) = value(inner)?;
                if tag != OID || oid != SPNEGO {
                    return None;
                }
                Self::init(expect(rest, INIT)?)
            }
            (INIT, inner, _) => Self::init(inner),
            (RESPONSE, inner, _) => {
                let [_, _, token, integrity, _] = fields(inner)?;
                Some(Self::Response {
                    token: octets(token).ok()?,
                    integrity: octets(integrity).ok()?,
                })
            }
            _ => None,
        }
    }

    fn init(inner: &[u8]) -> Option<Self> {
        let [mechanisms, _, token, integrity, _] = fields(inner)?;
        let mechanisms = mechanisms?;
        let mut rest = expect(mechanisms, SEQUENCE)?;
        let mut ntlm = None;
        for at in 0..MOST_MECHANISMS {
            if rest.is_empty() {
                break;
            }
            let (tag, oid, after) = value(rest)?;
            if tag == OID && oid == NTLMSSP && ntlm.is_none() {
                ntlm = Some(at == 0);
            }
            rest = after;
        }
        // Servers put a hint of another type there.
        let integrity = octets(integrity).unwrap_or_default();
        Some(Self::Init {
            mechanisms: mechanisms.to_vec(),
            ntlm,
            token: octets(token).ok()?,
            integrity,
        })
    }
}

fn wrap(tag: u8, inner: &[u8]) -> Vec<u8> {
    let mut made = vec![tag];
    let length = inner.len();
    let bytes = length.to_be_bytes();
    if length < 0x80 {
        made.push(bytes[bytes.len() - 1]);
    } else {
        let significant: Vec<u8> = bytes.into_iter().skip_while(|b| *b == 0).collect();
        made.push(0x80 | u8::try_from(significant.len()).unwrap_or(0));
        made.extend(significant);
    }
    made.extend(inner);
    made
}

/// The server's first word: it speaks NTLM.
pub fn hello() -> Vec<u8> {
    let mechanisms = wrap(0xA0, &wrap(SEQUENCE, &wrap(OID, NTLMSSP)));
    let hint = wrap(0xA3, &wrap(SEQUENCE, &wrap(0xA0, &wrap(GENERAL_STRING, HINT))));
    let init = wrap(INIT, &wrap(SEQUENCE, &[mechanisms, hint].concat()));
    wrap(APPLICATION, &[wrap(OID, SPNEGO), init].concat())
}

/// How far the negotiation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Completed,
    Incomplete,
}

/// A later token of the server's.
pub(super) fn response(
    state: State,
    choose: bool,
    token: Option<&[u8]>,
    integrity: Option<&[u8]>,
) -> Vec<u8> {
    let state = match state {
        State::Completed => 0,
        State::Incomplete => 1,
    };
    let mut inner = wrap(0xA0, &wrap(ENUMERATED, &[state]));
    if choose {
        inner.extend(wrap(0xA1, &wrap(OID, NTLMSSP)));
    }
    if let Some(token) = token {
        inner.extend(wrap(0xA2, &wrap(OCTETS, token)));
    }
    if let Some(integrity) = integrity {
        inner.extend(wrap(0xA3, &wrap(OCTETS, integrity)));
    }
    wrap(RESPONSE, &wrap(SEQUENCE, &inner))
}

/// A client's first token, for tests.
#[cfg(test)]
pub(super) fn client_init(oids: &[&[u8]], token: Option<&[u8]>) -> Vec<u8> {
    let list: Vec<u8> = oids.iter().flat_map(|oid| wrap(OID, oid)).collect();
    let mut inner = wrap(0xA0, &wrap(SEQUENCE, &list));
    if let Some(token) = token {
        inner.extend(wrap(0xA2, &wrap(OCTETS, token)));
    }
    let init = wrap(INIT, &wrap(SEQUENCE, &inner));
    wrap(APPLICATION, &[wrap(OID, SPNEGO), init].concat())
}

#[cfg(test)]
pub(super) const KERBEROS: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x12, 0x01, 0x02, 0x02];
#[cfg(test)]
pub(super) const NTLM_OID: &[u8] = NTLMSSP;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = vec![7; 300];
        let response = response(State::Incomplete, true, Some(&long), Some(&[9; 16]));
        let want = Token::Response { token: Some(long.clone()), integrity: Some(vec![9; 16]) };
        assert_eq!(Token::parse(&response), Some(want));
        for (oids, ntlm) in
            [(&[NTLMSSP][..], Some(true)), (&[KERBEROS, NTLMSSP], Some(false)), (&[KERBEROS], None)]
        {
            let Some(Token::Init { ntlm: found, token, .. }) =
                Token::parse(&client_init(oids, Some(&long)))
            else {
                panic!("a first token")
            };
            assert_eq!((found, token.as_deref()), (ntlm, Some(&long[..])));
        }
        let bare = wrap(INIT, &wrap(SEQUENCE, &wrap(0xA0, &wrap(SEQUENCE, &wrap(OID, NTLMSSP)))));
        assert!(matches!(Token::parse(&bare), Some(Token::Init { ntlm: Some(true), .. })));
        for (tag, oid, good) in
            [(OID, SPNEGO, true), (OID, KERBEROS, false), (OCTETS, SPNEGO, false)]
        {
            let token = wrap(APPLICATION, &[wrap(tag, oid), bare.clone()].concat());
            assert_eq!(Token::parse(&token).is_some(), good, "{tag} {oid:?}");
        }
        assert_eq!(Token::parse(&wrap(SEQUENCE, &[])), None);
        assert!(matches!(Token::parse(&hello()), Some(Token::Init { ntlm: Some(true), .. })));
    }

    #[test]
    fn every_truncation_is_none() {
        for whole in [hello(), client_init(&[KERBEROS, NTLMSSP], Some(&[1; 200]))] {
            for length in 0..whole.len() {
                assert_eq!(Token::parse(&whole[..length]), None, "{length}");
            }
        }
    }

    #[test]
    fn lengths() {
        for (bytes, want) in [
            (&[4, 0][..], Some((0, 0))),
            (&[4, 0, 9], Some((0, 1))),
            (&[4, 2, 1, 1, 9], Some((2, 1))),
            (&[4, 2, 1], None),
            (&[4, 0x81, 2, 1, 1, 9], Some((2, 1))),
            (&[4, 0x83, 0, 0, 1, 1], Some((1, 0))),
            (&[4, 0x80, 0, 0], None),
            (&[4, 0x84, 0, 0, 0, 1, 1], None),
            (&[4, 0x82, 1], None),
            (&[4], None),
        ] {
            let found = value(bytes).map(|(_, inner, rest)| (inner.len(), rest.len()));
            assert_eq!(found, want, "{bytes:?}");
        }
        let endless = [&[4, 0x80][..], &[0; 200]].concat();
        assert_eq!(value(&endless), None, "a length that is told by an end");
        for (length, head) in [
            (0x7F, &[4, 0x7F][..]),
            (0x80, &[4, 0x81, 0x80]),
            (0xFF, &[4, 0x81, 0xFF]),
            (0x100, &[4, 0x82, 1, 0]),
            (0x1_0203, &[4, 0x83, 1, 2, 3]),
        ] {
            let made = wrap(4, &vec![7; length]);
            assert!(made.starts_with(head), "{length}");
            assert_eq!(value(&made), Some((4, &vec![7; length][..], &[][..])), "{length}");
        }
    }
}
