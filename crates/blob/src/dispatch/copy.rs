//! Copies: the source is opened, then they are what core does with it.

use super::{Dispatch, done};
use crate::copy::failure::Copying;
use crate::copy::source;
use crate::parse::copy::Copy;
use crate::parse::from_url::FromUrl;
use crate::parse::put::Framing;
use crate::render::{copy, pages};
use zaffre_core::blob::copy::{self as copies, AbortCopy, IncrementalCopy, When};
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, Reply, codes};

impl Dispatch<'_> {
    pub(super) async fn copy_blob(self, asked: Copy) -> Result<Reply, ApiError> {
        let Copy { mut op, source, take_tags } = asked;
        let copying = match op.when {
            When::Later => Copying::Later,
            When::Now(_) => Copying::Whole,
        };
        let opened = source::open_copy(self, &source, copying, take_tags).await?;
        if take_tags {
            op.tags = opened.tags();
        }
        let op = self.caller.permit(op)?;
        let reply = done(copies::copy_blob(self.core, op, opened).await);
        let reply = reply.map_err(|error| self.of_copied(error, copying))?;
        Ok(copy::started(&reply, self.asked.version))
    }

    pub(super) async fn abort_copy(self, op: AbortCopy) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(copies::abort_copy(self.core, op).await)?;
        Ok(copy::aborted(self.asked.version))
    }

    pub(super) async fn incremental_copy(
        self,
        asked: FromUrl<IncrementalCopy>,
    ) -> Result<Reply, ApiError> {
        if !source::is_here(self, &asked.source) {
            return Err(codes::INVALID_SOURCE_BLOB_URL.into());
        }
        let opened = source::open_copy(self, &asked.source, Copying::Later, false).await?;
        let op = self.caller.permit(asked.op)?;
        let reply = done(copies::incremental_copy(self.core, op, opened).await);
        let reply = reply.map_err(|error| self.of_copied(error, Copying::Whole))?;
        Ok(copy::started(&reply, self.asked.version))
    }

    pub(super) async fn put_page_from_url(
        self,
        asked: FromUrl<op::PutPage>,
    ) -> Result<Reply, ApiError> {
        let opened = source::open(self, &asked.source, Copying::Part, false).await?;
        let wanted = asked.op.pages.end - asked.op.pages.start;
        if opened.length != wanted {
            return Err(ApiError::from(codes::INVALID_RANGE));
        }
        let op = self.caller.permit(asked.op)?;
        let reply = done(service::put_page(self.core, op, opened.body).await);
        let reply = reply.map_err(|error| self.of_copied(error, Copying::Part))?;
        Ok(pages::written_pages(&reply, Framing::Plain, self.asked.version))
    }

    /// A failed condition of the destination has a name of its own here.
    fn of_copied(self, error: ApiError, copying: Copying) -> ApiError {
        let named: &[&str] = match copying {
            Copying::Later => {
                &["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"]
            }
            Copying::Whole | Copying::Part => &["if-match"],
        };
        let sent = |name: &&str| self.asked.fields.header(name).is_ok_and(|sent| sent.is_some());
        if error.code == codes::CONDITION_NOT_MET.name && named.iter().any(sent) {
            codes::TARGET_CONDITION_NOT_MET.into()
        } else {
            error
        }
    }
}
