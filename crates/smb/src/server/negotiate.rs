//! NEGOTIATE: what both sides are going to speak.
//!
//! Must never agree to work without signatures.

use super::connection::{Agreed, Connection, Stage};
use super::exchange::Reply;
use super::state::{Server, random};
use crate::crypto::{Algorithm, Cipher, Preauth};
use crate::dialect::Dialect;
use crate::limits;
use crate::status::{Failure, Status};
use crate::wire::negotiate::{Request, Response, numbers, preauth_hashes};
use zaffre_domain::fs::properties::to_filetime;

const SIGNING_ENABLED_AND_REQUIRED: u16 = 3;
const LEASING: u32 = 0x2;
const LARGE_MTU: u32 = 0x4;
const MULTI_CHANNEL: u32 = 0x8;
const ENCRYPTION: u32 = 0x40;

const PREAUTH: u16 = 1;
const CIPHERS: u16 = 2;
const SIGNING: u16 = 8;
const SHA512: u16 = 1;

/// The answer to an SMB 1 client that knows SMB 2: more to follow.
pub(super) fn wildcard(server: &Server) -> Reply {
    let response = Response {
        security_mode: SIGNING_ENABLED_AND_REQUIRED,
        dialect: 0x02FF,
        server_guid: server.guid,
        capabilities: LEASING | LARGE_MTU,
        largest: limits::TRANSFER_BYTES,
        largest_transaction: limits::TRANSACTION_BYTES,
        time: to_filetime(server.now()),
        token: zaffre_auth::ntlm::hello(),
        contexts: Vec::new(),
    };
    Reply::ok(response.write())
}

/// What is agreed with a client that offers this.
pub(super) fn agree(server: &Server, request: &Request) -> Result<(Agreed, Reply), Failure> {
    if request.dialects.is_empty() {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let dialect = Dialect::best(&request.dialects).ok_or(Status::NOT_SUPPORTED)?;
    let mut capabilities = 0;
    if dialect.has_large_messages() {
        capabilities |= LEASING | LARGE_MTU;
    }
    if server.options.multichannel && dialect.is_third() {
        capabilities |= request.capabilities & MULTI_CHANNEL;
    }
    let mut algorithm = if dialect.is_third() { Algorithm::AesCmac } else { Algorithm::HmacSha256 };
    let mut cipher = None;
    let mut contexts = Vec::new();
    match dialect {
        Dialect::V3_1_1 => {
            let chosen = choose(&request.contexts)?;
            cipher = chosen.cipher;
            algorithm = chosen.algorithm.unwrap_or(algorithm);
            contexts = chosen.write()?;
        }
        Dialect::V3_0 | Dialect::V3_0_2 if request.capabilities & ENCRYPTION != 0 => {
            cipher = Some(Cipher::Ccm128);
            capabilities |= ENCRYPTION;
        }
        Dialect::V2_0_2 | Dialect::V2_1 | Dialect::V3_0 | Dialect::V3_0_2 => {}
    }
    let (largest, largest_transaction) = if dialect.has_large_messages() {
        (limits::TRANSFER_BYTES, limits::TRANSACTION_BYTES)
    } else {
        (limits::SMALL_TRANSFER_BYTES, limits::SMALL_TRANSFER_BYTES)
    };
    let agreed = Agreed {
        dialect,
        algorithm,
        cipher,
        client_guid: request.client_guid,
        client_capabilities: request.capabilities,
        client_security_mode: request.security_mode,
        capabilities,
        largest,
        largest_transaction,
        preauth: Preauth::START,
    };
    let response = Response {
        security_mode: SIGNING_ENABLED_AND_REQUIRED,
        dialect: dialect.number(),
        server_guid: server.guid,
        capabilities,
        largest,
        largest_transaction,
        time: to_filetime(server.now()),
        token: zaffre_auth::ntlm::hello(),
        contexts,
    };
    Ok((agreed, Reply::ok(response.write())))
}

/// What was chosen among the contexts of 3.1.1.
struct Chosen {
    cipher: Option<Cipher>,
    asked_for_cipher: bool,
    algorithm: Option<Algorithm>,
}

/// The client's order decides; the server knows them all.
fn choose(contexts: &[(u16, Vec<u8>)]) -> Result<Chosen, Failure> {
    let of = |kind: u16| contexts.iter().filter(move |(k, _)| *k == kind).map(|(_, data)| data);
    if of(PREAUTH).count() != 1 || of(CIPHERS).count() > 1 || of(SIGNING).count() > 1 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    for data in of(PREAUTH) {
        if !preauth_hashes(data)?.contains(&SHA512) {
            return Err(Status::SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP.into());
        }
    }
    let mut chosen = Chosen { cipher: None, asked_for_cipher: false, algorithm: None };
    for data in of(CIPHERS) {
        chosen.asked_for_cipher = true;
        chosen.cipher = numbers(data)?.into_iter().find_map(Cipher::of);
    }
    for data in of(SIGNING) {
        let offered = numbers(data)?;
        if offered.is_empty() {
            return Err(Status::INVALID_PARAMETER.into());
        }
        chosen.algorithm = offered.into_iter().find_map(Algorithm::of);
    }
    Ok(chosen)
}

impl Chosen {
    fn write(&self) -> Result<Vec<(u16, Vec<u8>)>, Failure> {
        let salt: [u8; 32] = random().map_err(|_| Status::INSUFFICIENT_RESOURCES)?;
        let mut preauth = vec![1, 0, 32, 0, 1, 0];
        preauth.extend(salt);
        let mut contexts = vec![(PREAUTH, preauth)];
        let one = |number: u16| [1_u16.to_le_bytes(), number.to_le_bytes()].concat();
        if self.asked_for_cipher {
            contexts.push((CIPHERS, one(self.cipher.map_or(0, Cipher::number))));
        }
        if let Some(algorithm) = self.algorithm {
            contexts.push((SIGNING, one(algorithm.number())));
        }
        Ok(contexts)
    }
}

/// Keeps what was agreed, with the hash over both messages.
pub(super) fn keep(connection: &Connection, mut agreed: Agreed, request: &[u8], answer: &[u8]) {
    agreed.preauth = Preauth::START.with(request).with(answer);
    connection.state().stage = Stage::Agreed(agreed);
}

/// What FSCTL_VALIDATE_NEGOTIATE_INFO says: the client's view must be what we saw, and ours is given
/// back under a signature.
pub(crate) fn validate(server: &Server, agreed: &Agreed, input: &[u8]) -> Option<Vec<u8>> {
    use crate::wire::cursor::{Reader, Writer};
    let mut reader = Reader::new(input);
    let capabilities = reader.u32().ok()?;
    let guid: [u8; 16] = reader.array().ok()?;
    let mode = reader.u16().ok()?;
    let count = reader.u16().ok()?;
    let dialects: Vec<u16> = (0..count).map(|_| reader.u16()).collect::<Result<_, _>>().ok()?;
    let same = capabilities == agreed.client_capabilities
        && guid == agreed.client_guid
        && mode == agreed.client_security_mode
        && Dialect::best(&dialects) == Some(agreed.dialect);
    if !same {
        return None;
    }
    let mut to = Writer::new();
    to.u32(agreed.capabilities).bytes(&server.guid).u16(SIGNING_ENABLED_AND_REQUIRED);
    to.u16(agreed.dialect.number());
    Some(to.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: &[u16]) -> Vec<u8> {
        let count = u16::try_from(numbers.len()).expect("few");
        std::iter::once(&count).chain(numbers).flat_map(|n| n.to_le_bytes()).collect()
    }

    fn preauth(hash: u16) -> (u16, Vec<u8>) {
        (PREAUTH, [1, 0, 0, 0].into_iter().chain(hash.to_le_bytes()).collect())
    }

    #[test]
    fn contexts_choose() {
        type Offered = Vec<(u16, Vec<u8>)>;
        type Want = Result<(Option<Cipher>, Option<Algorithm>), Status>;
        let rows: [(Offered, Want); 8] = [
            (vec![preauth(1)], Ok((None, None))),
            (vec![], Err(Status::INVALID_PARAMETER)),
            (vec![preauth(1), preauth(1)], Err(Status::INVALID_PARAMETER)),
            (vec![preauth(9)], Err(Status::SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP)),
            (vec![preauth(1), (CIPHERS, list(&[2, 1]))], Ok((Some(Cipher::Gcm128), None))),
            (vec![preauth(1), (CIPHERS, list(&[77, 4]))], Ok((Some(Cipher::Gcm256), None))),
            (vec![preauth(1), (CIPHERS, list(&[77]))], Ok((None, None))),
            (
                vec![preauth(1), (SIGNING, list(&[9, 2, 1])), (99, vec![1])],
                Ok((None, Some(Algorithm::AesGmac))),
            ),
        ];
        for (contexts, want) in rows {
            let got = choose(&contexts).map(|c| (c.cipher, c.algorithm)).map_err(|f| f.status);
            assert_eq!(got, want, "{contexts:?}");
        }
    }
}
