//! The sources of copies: where they are, who may read them, and what their failures look like.

pub mod elsewhere;
pub(crate) mod failure;
pub(crate) mod source;
pub use zaffre_http::source_url as url;
