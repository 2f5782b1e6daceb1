//! IOCTL: what does not need a file, what pipes do, and what files do.
//!
//! Must never answer a control it does not know with success.

use crate::rpc::pipe;
use crate::server::exchange::{Exchange, Reply};
use crate::server::negotiate;
use crate::server::session::Share;
use crate::status::{Failure, Status};
use crate::wire::cursor::index;
use crate::wire::io::{IoctlRequest, ioctl_response};

const VALIDATE_NEGOTIATE_INFO: u32 = 0x0014_0204;
const PIPE_TRANSCEIVE: u32 = 0x0011_C017;
const DFS_GET_REFERRALS: u32 = 0x0006_0194;
const DFS_GET_REFERRALS_EX: u32 = 0x0006_01B0;

/// IOCTL.
pub(crate) async fn run(x: &mut Exchange<'_>, request: IoctlRequest) -> Result<Reply, Failure> {
    const IS_FSCTL: u32 = 1;
    if request.flags != IS_FSCTL {
        return Err(Status::NOT_SUPPORTED.into());
    }
    match request.code {
        VALIDATE_NEGOTIATE_INFO => validate(x, &request),
        DFS_GET_REFERRALS | DFS_GET_REFERRALS_EX => Err(Status::FS_DRIVER_REQUIRED.into()),
        PIPE_TRANSCEIVE => match x.tree.share {
            Share::Pipes => pipe::transceive(x, &request).await,
            Share::Disk(_) => Err(Status::INVALID_DEVICE_REQUEST.into()),
        },
        _ => Err(Status::INVALID_DEVICE_REQUEST.into()),
    }
}

/// Somebody in between may have changed what both sides said before there were keys; this request
/// is signed, so a difference ends the connection.
fn validate(x: &Exchange<'_>, request: &IoctlRequest) -> Result<Reply, Failure> {
    let agreed = x.connection.agreed().ok_or(Status::INVALID_PARAMETER)?;
    let Some(output) = negotiate::validate(&x.server, &agreed, &request.input) else {
        x.connection.close();
        return Err(Status::ACCESS_DENIED.into());
    };
    if output.len() > index(request.max_output) {
        return Err(Status::INVALID_PARAMETER.into());
    }
    Ok(Reply::ok(ioctl_response(request.code, request.file, &output)))
}
