//! Copies, and ranges whose bytes come from a URL.

use super::{Dispatch, done};
use crate::parse::copy::{From, RangeFrom};
use crate::render::file as render;
use crate::source::{self, Rights};
use futures_util::StreamExt;
use hyper::StatusCode;
use zaffre_base::checksum::Crc64;
use zaffre_core::blob::ByteStream;
use zaffre_core::file::{self as service, op};
use zaffre_http::{ApiError, Reply, codes};

impl Dispatch<'_> {
    pub(super) async fn copy_file(self, from: From<op::CopyFile>) -> Result<Reply, ApiError> {
        let From { op, source, dots } = from;
        let op = self.caller.permit(op)?;
        let opened = source::open(self, &source, dots, Rights::OfCaller).await?;
        let copied = done(service::copy_file(self.core, op, opened).await)?;
        Ok(render::copied(&copied, self.asked.version))
    }

    pub(super) async fn abort_copy_file(self, op: op::AbortCopyFile) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::abort_copy_file(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }

    pub(super) async fn put_range_from_url(self, from: From<RangeFrom>) -> Result<Reply, ApiError> {
        let From { op: RangeFrom { op, if_match, if_none_match }, source, dots } = from;
        let length = op.bytes.end - op.bytes.start;
        let op = self.caller.permit(op)?;
        if if_match.is_some() || if_none_match.is_some() {
            let opened = source::open(self, &source, dots, Rights::OfUrl).await?;
            let found = crc64(opened.body).await?;
            let met = if_match.is_none_or(|want| want == found)
                && if_none_match.is_none_or(|other| other != found);
            if !met {
                return Err(codes::SOURCE_CONDITION_NOT_MET.into());
            }
        }
        let opened = source::open(self, &source, dots, Rights::OfUrl).await?;
        if opened.length != length {
            return Err(codes::INVALID_RANGE.into());
        }
        let written = done(service::put_range(self.core, op, opened.body).await)?;
        Ok(render::range_copied(&written, self.asked.version))
    }
}

async fn crc64(mut bytes: ByteStream) -> Result<[u8; 8], ApiError> {
    let mut crc64 = Crc64::default();
    while let Some(piece) = bytes.next().await {
        crc64.update(&piece.map_err(|_| ApiError::incomplete_body())?);
    }
    Ok(crc64.finish())
}
