//! Uploads whose content is read from a URL: the source is opened, then they are uploads.

use super::{Dispatch, done};
use crate::copy::failure::Copying;
use crate::copy::source::{self, Opened};
use crate::parse::from_url::{FromUrl, WholeBlob};
use crate::parse::put::Framing;
use crate::render::{append, encryption, upload};
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, Reply, codes};

impl Dispatch<'_> {
    pub(super) async fn put_blob_from_url(
        self,
        asked: FromUrl<WholeBlob>,
    ) -> Result<Reply, ApiError> {
        let opened = source::open(self, &asked.source, Copying::Whole, asked.op.take_tags).await?;
        let take_tags = asked.op.take_tags;
        let mut op = asked.op.completed(opened.length, &opened.properties, &opened.metadata);
        if take_tags {
            op.tags = opened.tags;
        }
        let op = self.caller.permit(op)?;
        let reply = done(service::put_blob(self.core, op, opened.body).await);
        let reply = reply.map_err(|error| self.of_target(error))?;
        encryption::echo(
            upload::blob(&reply, Framing::Plain, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn put_block_from_url(
        self,
        asked: FromUrl<op::PutBlock>,
    ) -> Result<Reply, ApiError> {
        let opened = source::open(self, &asked.source, Copying::Whole, false).await?;
        let opened = with_content(opened)?;
        let op = op::PutBlock { length: Some(opened.length), ..asked.op };
        let op = self.caller.permit(op)?;
        let reply = done(service::put_block(self.core, op, opened.body).await)?;
        encryption::echo(
            upload::block(&reply, Framing::Plain, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn append_block_from_url(
        self,
        asked: FromUrl<op::AppendBlock>,
    ) -> Result<Reply, ApiError> {
        let opened = source::open(self, &asked.source, Copying::Part, false).await?;
        let opened = with_content(opened)?;
        let op = op::AppendBlock { length: Some(opened.length), ..asked.op };
        let op = self.caller.permit(op)?;
        let reply = done(service::append_block(self.core, op, opened.body).await)?;
        encryption::echo(
            append::appended(&reply, Framing::Plain, self.asked.version),
            &self.asked.fields,
        )
    }

    /// A failed If-Match of the destination has a name of its own here.
    fn of_target(self, error: ApiError) -> ApiError {
        let if_match = self.asked.fields.header("if-match").is_ok_and(|sent| sent.is_some());
        if if_match && error.code == codes::CONDITION_NOT_MET.name {
            codes::TARGET_CONDITION_NOT_MET.into()
        } else {
            error
        }
    }
}

/// No block may be empty.
fn with_content(opened: Opened) -> Result<Opened, ApiError> {
    if opened.length == 0 {
        return Err(ApiError::invalid_header_value("x-ms-source-range", ""));
    }
    Ok(opened)
}
