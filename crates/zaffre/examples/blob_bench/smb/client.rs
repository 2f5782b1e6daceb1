//! One connection of the loader: requests are signed and pipelined, answers are read in any order.
//!
//! Must never do more for one server than for the other.

use super::wire::{self, HEADER, Id};
use crate::report::Result;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use zaffre_base::Secret;
use zaffre_smb::crypto::{Algorithm, Preauth, SessionKeys};
use zaffre_smb::dialect::Dialect;
use zaffre_testkit::ntlm;

const SUCCESS: u32 = 0;
const MORE_PROCESSING: u32 = 0xC000_0016;
const PENDING: u32 = 0x103;

/// Who logs in, and where.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    pub(crate) address: SocketAddr,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) share: String,
}

/// An answer: what it is to, and what it says.
pub(crate) struct Answer {
    pub(crate) message: u64,
    pub(crate) status: u32,
    /// From the header on.
    pub(crate) bytes: Vec<u8>,
}

pub(crate) struct Client {
    writing: TcpStream,
    reading: BufReader<TcpStream>,
    keys: Option<SessionKeys>,
    next: u64,
    session: u64,
    tree: u32,
    checked: bool,
}

impl Client {
    /// Connects, logs in and connects the share.
    pub(crate) fn open(login: &Login) -> Result<Self> {
        let writing = TcpStream::connect(login.address)?;
        writing.set_nodelay(true)?;
        let reading = BufReader::with_capacity(256 * 1024, writing.try_clone()?);
        let (keys, next, session, tree) = (None, 0, 0, 0);
        let mut client = Self { writing, reading, keys, next, session, tree, checked: false };
        let mut hash = Preauth::START;
        let answer = client.ask_plain(wire::NEGOTIATE, wire::negotiate(), &mut hash)?;
        expect(&answer, SUCCESS, "NEGOTIATE")?;
        hash = hash.with(&answer.bytes);
        let setup = wire::session_setup(&ntlm::negotiate());
        let answer = client.ask_plain(wire::SESSION_SETUP, setup, &mut hash)?;
        expect(&answer, MORE_PROCESSING, "SESSION_SETUP")?;
        hash = hash.with(&answer.bytes);
        client.session = le64(&answer.bytes, 40)?;
        let (token, key) = ntlm::authenticate(&answer.bytes, &login.user, &login.password)?;
        let setup = wire::session_setup(&token);
        let answer = client.ask_plain(wire::SESSION_SETUP, setup, &mut hash)?;
        expect(&answer, SUCCESS, "SESSION_SETUP")?;
        let keys =
            SessionKeys::new(Dialect::V3_1_1, Algorithm::AesGmac, None, &Secret::new(key), &hash);
        client.keys = Some(keys);
        let path = format!("\\\\127.0.0.1\\{}", login.share);
        let answer = client.ask(wire::TREE_CONNECT, &wire::tree_connect(&path), 0)?;
        expect(&answer, SUCCESS, "TREE_CONNECT")?;
        client.tree = u32::try_from(le64(&answer.bytes, 36)? & 0xFFFF_FFFF)?;
        Ok(client)
    }

    fn ask_plain(&mut self, command: u16, body: Vec<u8>, hash: &mut Preauth) -> Result<Answer> {
        let mut message = wire::header(command, self.next, 0, self.session, 0);
        message.extend(body);
        self.next += 1;
        *hash = hash.with(&message);
        self.put(&message)?;
        self.answer()
    }

    fn put(&mut self, message: &[u8]) -> Result<()> {
        let framed = [&u32::try_from(message.len())?.to_be_bytes()[..], message].concat();
        Ok(self.writing.write_all(&framed)?)
    }

    /// Sends a request; its id comes back.
    pub(crate) fn send(&mut self, command: u16, body: &[u8], payload: usize) -> Result<u64> {
        let id = self.next;
        let mut message = wire::header(command, id, self.tree, self.session, payload);
        message.extend_from_slice(body);
        self.next += wire::charge(payload);
        if let Some(keys) = &self.keys {
            keys.sign(&mut message);
        }
        self.put(&message)?;
        Ok(id)
    }

    /// The next answer, whichever request it is to.
    pub(crate) fn answer(&mut self) -> Result<Answer> {
        loop {
            let mut prefix = [0; 4];
            self.reading.read_exact(&mut prefix)?;
            let length = usize::try_from(u32::from_be_bytes(prefix))?;
            let mut bytes = vec![0; length];
            self.reading.read_exact(&mut bytes)?;
            if length < HEADER {
                return Err("a short answer".into());
            }
            let status = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
            if status == PENDING {
                continue;
            }
            // One signature proves that the keys are right; checking all would measure this client.
            if let Some(keys) = &self.keys
                && !self.checked
            {
                self.checked = true;
                if !keys.verify(&bytes) {
                    return Err("a wrong signature".into());
                }
            }
            return Ok(Answer { message: le64(&bytes, 24)?, status, bytes });
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, command: u16, body: &[u8], payload: usize) -> Result<Answer> {
        let id = self.send(command, body, payload)?;
        let answer = self.answer()?;
        if answer.message == id { Ok(answer) } else { Err("an answer to something else".into()) }
    }

    /// Opens or makes a file.
    pub(crate) fn create(&mut self, name: &str) -> Result<Id> {
        let answer = self.ask(wire::CREATE, &wire::create(name), 0)?;
        expect(&answer, SUCCESS, "CREATE")?;
        let id = answer.bytes.get(HEADER + 64..HEADER + 80).ok_or("a short answer")?;
        Ok(id.try_into()?)
    }

    pub(crate) fn close(&mut self, id: Id) -> Result<()> {
        expect(&self.ask(wire::CLOSE, &wire::close(id), 0)?, SUCCESS, "CLOSE")
    }

    pub(crate) fn flush(&mut self, id: Id) -> Result<()> {
        expect(&self.ask(wire::FLUSH, &wire::flush(id), 0)?, SUCCESS, "FLUSH")
    }

    pub(crate) fn write(&mut self, id: Id, offset: u64, data: &[u8]) -> Result<()> {
        let answer = self.ask(wire::WRITE, &wire::write(id, offset, data), data.len())?;
        expect(&answer, SUCCESS, "WRITE")
    }
}

fn le64(bytes: &[u8], at: usize) -> Result<u64> {
    let part = bytes.get(at..at + 8).ok_or("a short answer")?;
    Ok(u64::from_le_bytes(part.try_into()?))
}

/// Refuses an answer that is not the one that was expected.
pub(crate) fn expect(answer: &Answer, status: u32, what: &str) -> Result<()> {
    if answer.status == status {
        return Ok(());
    }
    Err(format!("{what} was answered with {:#x}", answer.status).into())
}
