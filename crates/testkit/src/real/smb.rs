//! A small client of SMB 2.1: signed, NTLMv2, one request at a time.
//!
//! Must never send anything twice: an operation that was tried again could happen twice.

use super::Lost;
use super::ntlm;
use super::world::World;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

const HEADER: usize = 64;
const PATIENCE: Duration = Duration::from_secs(30);
/// Status of an answer that says: more follows, or the answer comes later.
const MORE: u32 = 0xC000_0016;
const PENDING: u32 = 0x0000_0103;
/// A write that is answered when it is durable: one that waits may be lost with the server.
const WRITE_THROUGH: u32 = 1;
const SIGNED: u32 = 8;

/// The commands that are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Command {
    Negotiate = 0,
    SessionSetup = 1,
    TreeConnect = 3,
    Create = 5,
    Close = 6,
    Write = 9,
    Lock = 10,
}

/// An open file.
pub(crate) type FileId = [u8; 16];

/// What a lock request does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Locks {
    /// An exclusive lock, at once or not at all.
    Take,
    Release,
}

/// A connection with a session and a tree.
#[derive(Debug)]
pub(crate) struct Smb {
    stream: TcpStream,
    /// The server it is to.
    pub(crate) generation: u64,
    message: u64,
    session: u64,
    tree: u32,
    key: Option<[u8; 16]>,
}

/// Numbers and bytes of a request.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }
    fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend(value);
        self
    }
    fn length(self, value: &[u8]) -> Self {
        self.u16(u16::try_from(value.len()).expect("short"))
    }
}

/// A text as UTF-16LE.
pub(super) fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

impl Smb {
    /// Connects to the server that is up and to a share of it; waits for one.
    pub(crate) fn connect(world: &Arc<World>, share: &str) -> Self {
        loop {
            let (generation, ports) = world.server();
            let connected = TcpStream::connect((Ipv4Addr::LOCALHOST, ports.smb));
            if let Ok(stream) = connected {
                stream.set_nodelay(true).expect("a socket");
                stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
                let mut smb =
                    Self { stream, generation, message: 0, session: 0, tree: 0, key: None };
                if smb.greet(share).is_ok() {
                    return smb;
                }
            }
            // It is being killed; soon the world knows.
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn greet(&mut self, share: &str) -> Result<(), Lost> {
        let negotiate = Body::default().u16(36).u16(1).u16(3).u16(0).u32(0).bytes(&[7; 16]);
        self.ask(Command::Negotiate, &negotiate.u64(0).u16(0x0210))?;
        let (_, body) = self.set_up(&ntlm::negotiate())?;
        let offset = body.get(4..6).and_then(|at| at.try_into().ok()).map(u16::from_le_bytes);
        let token = offset.and_then(|at| body.get(usize::from(at).checked_sub(HEADER)?..));
        let token = token.ok_or(Lost)?;
        let (token, key) = ntlm::authenticate(token).ok_or(Lost)?;
        // The last answer is signed already, and so is all that follows.
        self.set_up(&token)?;
        self.key = Some(key);
        let path = utf16(&format!("\\\\127.0.0.1\\{share}"));
        let tree = Body::default().u16(9).u16(0).u16(72).length(&path).bytes(&path);
        let (status, _) = self.ask(Command::TreeConnect, &tree)?;
        if status == 0 { Ok(()) } else { panic!("no tree: {status:x}") }
    }

    fn set_up(&mut self, token: &[u8]) -> Result<(u32, Vec<u8>), Lost> {
        let body = Body::default().u16(25).u8(0).u8(3).u32(0).u32(0).u16(88).length(token);
        let (status, body) = self.ask(Command::SessionSetup, &body.u64(0).bytes(token))?;
        assert!(status == 0 || status == MORE, "no session: {status:x}");
        Ok((status, body))
    }

    /// Opens a file that is there; its status if it is refused.
    pub(crate) fn open(
        &mut self,
        name: &str,
        access: u32,
        share: u32,
    ) -> Result<Result<FileId, u32>, Lost> {
        let name = utf16(name);
        let body = Body::default().u16(57).u8(0).u8(0).u32(2).u64(0).u64(0);
        let body = body.u32(access).u32(0).u32(share).u32(1).u32(0).u16(120).length(&name);
        let (status, body) = self.ask(Command::Create, &body.u32(0).u32(0).bytes(&name))?;
        if status != 0 {
            return Ok(Err(status));
        }
        let id = body.get(64..80).and_then(|id| id.try_into().ok()).ok_or(Lost)?;
        Ok(Ok(id))
    }

    /// Closes a file; the status.
    pub(crate) fn close(&mut self, file: FileId) -> Result<u32, Lost> {
        let body = Body::default().u16(24).u16(0).u32(0).bytes(&file);
        Ok(self.ask(Command::Close, &body)?.0)
    }

    /// Locks or unlocks a range; the status.
    pub(crate) fn lock(
        &mut self,
        file: FileId,
        offset: u64,
        length: u64,
        what: Locks,
    ) -> Result<u32, Lost> {
        let flags = match what {
            Locks::Take => 0x12,
            Locks::Release => 0x04,
        };
        let body = Body::default().u16(48).u16(1).u32(0).bytes(&file);
        let body = body.u64(offset).u64(length).u32(flags).u32(0);
        Ok(self.ask(Command::Lock, &body)?.0)
    }

    /// Writes; the status.
    pub(crate) fn write(&mut self, file: FileId, offset: u64, data: &[u8]) -> Result<u32, Lost> {
        let length = u32::try_from(data.len()).expect("short");
        let body = Body::default().u16(49).u16(112).u32(length).u64(offset).bytes(&file);
        let body = body.u32(0).u32(0).u16(0).u16(0).u32(WRITE_THROUGH).bytes(data);
        Ok(self.ask(Command::Write, &body)?.0)
    }

    /// Sends a request and gives the answer's status and body.
    fn ask(&mut self, command: Command, body: &Body) -> Result<(u32, Vec<u8>), Lost> {
        let flags = if self.key.is_some() { SIGNED } else { 0 };
        let head = Body::default().bytes(b"\xFESMB").u16(64).u16(1).u32(0);
        let head = head.u16(command as u16).u16(64).u32(flags).u32(0).u64(self.message);
        let head = head.u32(0).u32(self.tree).u64(self.session).bytes(&[0; 16]);
        let mut packet = head.bytes(&body.0).0;
        if let Some(key) = &self.key {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length");
            mac.update(&packet);
            let sum = mac.finalize().into_bytes();
            packet[48..64].copy_from_slice(&sum[..16]);
        }
        let mut framed = u32::try_from(packet.len()).expect("short").to_be_bytes().to_vec();
        framed.extend(packet);
        self.stream.write_all(&framed).map_err(|_| Lost)?;
        let asked = self.message;
        self.message += 1;
        loop {
            let answer = self.receive()?;
            let status = u32::from_le_bytes(answer[8..12].try_into().map_err(|_| Lost)?);
            let of = u64::from_le_bytes(answer[24..32].try_into().map_err(|_| Lost)?);
            if of != asked || status == PENDING {
                continue;
            }
            if command == Command::SessionSetup {
                self.session = u64::from_le_bytes(answer[40..48].try_into().map_err(|_| Lost)?);
            }
            if command == Command::TreeConnect {
                self.tree = u32::from_le_bytes(answer[36..40].try_into().map_err(|_| Lost)?);
            }
            return Ok((status, answer[HEADER..].to_vec()));
        }
    }

    fn receive(&mut self) -> Result<Vec<u8>, Lost> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).map_err(|_| Lost)?;
        let length = usize::try_from(u32::from_be_bytes(length)).map_err(|_| Lost)?;
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).map_err(|_| Lost)?;
        if answer.len() < HEADER { Err(Lost) } else { Ok(answer) }
    }
}
