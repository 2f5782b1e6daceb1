//! Named pipes as files: `srvsvc` and no other.
//!
//! Must never hold more than `PIPE_BYTES` in either direction.

use super::dcerpc::{self, Endpoint, Event};
use super::srvsvc::{self, View};
use crate::files::{self, Open};
use crate::limits;
use crate::server::exchange::{Exchange, Reply};
use crate::server::state::NAME;
use crate::status::{Failure, Status};
use crate::wire::cursor::{Writer, index};
use crate::wire::info::{QueryRequest, buffer_response};
use crate::wire::{create, io};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const PIPE_EMPTY: Status = Status(0xC000_00D9);
const NORMAL: u32 = 0x80;

/// A pipe that a session has open.
#[derive(Debug, Default)]
pub(crate) struct Pipe(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    endpoint: Endpoint,
    received: Vec<u8>,
    answers: Vec<u8>,
    /// What is left of the message that is being read.
    left: usize,
}

impl Pipe {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes from the client and answers each whole message among them.
    pub(crate) async fn write(&self, x: &Exchange<'_>, data: &[u8]) -> Result<(), Failure> {
        let calls = self.inner().take(data)?;
        for call in calls {
            let answer = match call {
                Event::Answer(answer) => answer,
                Event::More => continue,
                Event::Call(call) => {
                    let shares = files::share_names(&x.server, &x.session).await?;
                    let view = View { server: NAME, shares: &shares };
                    match srvsvc::run(view, call.operation, &call.stub) {
                        Ok(stub) => dcerpc::response(&call, &stub),
                        Err(code) => dcerpc::fault(&call, code),
                    }
                }
            };
            let mut inner = self.inner();
            if inner.answers.len() + answer.len() > limits::PIPE_BYTES {
                return Err(Status::INSUFFICIENT_RESOURCES.into());
            }
            inner.answers.extend(answer);
        }
        Ok(())
    }

    /// At most `most` bytes of the next message, and whether more of it is left.
    pub(crate) fn read(&self, most: usize) -> Result<(Vec<u8>, bool), Status> {
        let mut inner = self.inner();
        if inner.left == 0 {
            inner.left = match dcerpc::message_length(&inner.answers) {
                Ok(Some(length)) => length.min(inner.answers.len()),
                Ok(None) | Err(_) => return Err(PIPE_EMPTY),
            };
        }
        let count = inner.left.min(most);
        let data: Vec<u8> = inner.answers.drain(..count).collect();
        inner.left -= count;
        Ok((data, inner.left > 0))
    }
}

impl Inner {
    fn take(&mut self, data: &[u8]) -> Result<Vec<Event>, Status> {
        if self.received.len() + data.len() > limits::PIPE_BYTES {
            return Err(Status::INSUFFICIENT_RESOURCES);
        }
        self.received.extend_from_slice(data);
        let mut events = Vec::new();
        loop {
            let length = match dcerpc::message_length(&self.received) {
                Ok(Some(length)) if length <= self.received.len() => length,
                Ok(_) => return Ok(events),
                Err(_) => return Err(Status::PIPE_DISCONNECTED),
            };
            let message: Vec<u8> = self.received.drain(..length).collect();
            events.push(self.endpoint.take(&message).map_err(|_| Status::PIPE_DISCONNECTED)?);
        }
    }
}

fn pipe_of(open: &Open) -> Result<&Pipe, Status> {
    open.pipe().ok_or(Status::INVALID_DEVICE_REQUEST)
}

/// CREATE on IPC$.
pub(crate) fn create(x: &mut Exchange<'_>, request: &create::Request) -> Result<Reply, Failure> {
    let name = String::from_utf16(&request.name).map_err(|_| Status::OBJECT_NAME_INVALID)?;
    let name = name.trim_start_matches('\\').to_ascii_lowercase();
    let name = name.strip_prefix("pipe\\").unwrap_or(&name);
    if name != "srvsvc" {
        return Err(Status::OBJECT_NAME_NOT_FOUND.into());
    }
    if request.impersonation > 3 {
        return Err(Status::BAD_IMPERSONATION_LEVEL.into());
    }
    let open = Arc::new(Open::of_pipe(&x.server, x.tree.id));
    let file = open.id;
    x.session.add_open(open).map_err(|_| Status::INSUFFICIENT_RESOURCES)?;
    x.related = Ok(file);
    let facts = create::Facts { attributes: NORMAL, allocation: 4096, ..Default::default() };
    let response = create::Response { oplock: 0, action: 1, facts, file, contexts: Vec::new() };
    Ok(Reply::ok(response.write()))
}

/// CLOSE on IPC$.
pub(crate) fn close(x: &Exchange<'_>, request: create::CloseRequest) -> Result<Reply, Failure> {
    let open = x.open(request.file)?;
    x.session.take_open(open.id);
    let facts = create::Facts { attributes: NORMAL, allocation: 4096, ..Default::default() };
    Ok(Reply::ok(create::close_response(request.with_facts.then_some(&facts))))
}

/// READ on IPC$.
pub(crate) fn read(x: &Exchange<'_>, request: io::ReadRequest) -> Result<Reply, Failure> {
    let open = x.open(request.file)?;
    let (data, more) = pipe_of(&open)?.read(index(request.length))?;
    let status = if more { Status::BUFFER_OVERFLOW } else { Status::SUCCESS };
    Ok(Reply { status, body: io::read_response(&data) })
}

/// WRITE on IPC$.
pub(crate) async fn write(x: &Exchange<'_>, request: &io::WriteRequest) -> Result<Reply, Failure> {
    let open = x.open(request.file)?;
    pipe_of(&open)?.write(x, &request.data).await?;
    Ok(Reply::ok(io::write_response(request.data.len())))
}

/// A write and a read in one.
pub(crate) async fn transceive(
    x: &Exchange<'_>,
    request: &io::IoctlRequest,
) -> Result<Reply, Failure> {
    let open = x.open(request.file)?;
    let pipe = pipe_of(&open)?;
    pipe.write(x, &request.input).await?;
    let (data, more) = pipe.read(index(request.max_output))?;
    let status = if more { Status::BUFFER_OVERFLOW } else { Status::SUCCESS };
    Ok(Reply { status, body: io::ioctl_response(request.code, open.id, &data) })
}

/// QUERY_INFO on IPC$: what some clients ask before they use a pipe.
pub(crate) fn query_info(x: &Exchange<'_>, request: &QueryRequest) -> Result<Reply, Failure> {
    const STANDARD: (u8, u8) = (1, 5);
    x.open(request.file)?;
    if (request.kind, request.class) != STANDARD {
        return Err(Status::NOT_SUPPORTED.into());
    }
    if request.output < 24 {
        return Err(Status::INFO_LENGTH_MISMATCH.into());
    }
    let mut to = Writer::new();
    to.u64(4096).u64(0).u32(1).u8(1).u8(0).u16(0);
    Ok(Reply::ok(buffer_response(&to.finish())))
}
