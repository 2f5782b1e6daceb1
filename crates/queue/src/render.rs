//! What core replied as the service's answers: statuses, headers, XML.
//!
//! Must never leave out or reorder an element: clients read by position, too.

use crate::parse::{Listing, since};
use hyper::StatusCode;
use zaffre_base::ApiVersion;
use zaffre_core::queue::reply::{MessageView, QueuePage, QueueProperties};
use zaffre_domain::blob::{AccessPolicy, Metadata};
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, access_policies, header};

const XML: &str = "application/xml";

/// What of a message is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// After it was put: no text.
    Put,
    /// When it is received.
    Received,
    /// When it is peeked at: nothing that would let the reader change it.
    Peeked,
}

/// An answer without a body.
pub(crate) fn empty(status: StatusCode, version: ApiVersion) -> Reply {
    Reply::new(status, version)
}

fn read(version: ApiVersion) -> Reply {
    Reply::new(StatusCode::OK, version).with(header!("cache-control"), "no-cache")
}

/// Get Queue Metadata.
pub(crate) fn properties(found: &QueueProperties, version: ApiVersion) -> Reply {
    let reply = read(version).with(header!("x-ms-approximate-messages-count"), found.messages);
    found.metadata.iter().fold(reply, |reply, (name, value)| reply.with_metadata(name, value))
}

/// Get Queue ACL.
pub(crate) fn acl(policies: &[AccessPolicy], version: ApiVersion) -> Reply {
    read(version).with_body(XML, access_policies::document(policies))
}

/// Put Message.
pub(crate) fn put(message: &MessageView, version: ApiVersion) -> Reply {
    let reply = Reply::new(StatusCode::CREATED, version);
    if version < since::PUT_ANSWERS {
        return reply;
    }
    reply.with_body(XML, document(std::slice::from_ref(message), Shown::Put))
}

/// Get Messages and Peek Messages.
pub(crate) fn messages(messages: &[MessageView], shown: Shown, version: ApiVersion) -> Reply {
    read(version).with_body(XML, document(messages, shown))
}

/// Update Message.
pub(crate) fn updated(message: &MessageView, version: ApiVersion) -> Reply {
    Reply::new(StatusCode::NO_CONTENT, version)
        .with(header!("x-ms-popreceipt"), message.receipt())
        .with(header!("x-ms-time-next-visible"), message.message.visible.rfc1123())
}

fn document(messages: &[MessageView], shown: Shown) -> Vec<u8> {
    let mut xml = Writer::default();
    if messages.is_empty() {
        xml.empty("QueueMessagesList");
        return xml.finish();
    }
    xml.open("QueueMessagesList");
    for view in messages {
        xml.open("QueueMessage")
            .element("MessageId", view.id)
            .element("InsertionTime", view.inserted().rfc1123())
            .element("ExpirationTime", view.message.expires.rfc1123());
        if shown != Shown::Peeked {
            xml.element("PopReceipt", view.receipt())
                .element("TimeNextVisible", view.message.visible.rfc1123());
        }
        if shown != Shown::Put {
            xml.element("DequeueCount", view.message.dequeues).element("MessageText", &view.text);
        }
        xml.close("QueueMessage");
    }
    xml.close("QueueMessagesList");
    xml.finish()
}

/// List Queues.
pub(crate) fn listing(
    page: &QueuePage,
    asked: &Listing,
    endpoint: &str,
    version: ApiVersion,
) -> Reply {
    let present = version >= since::PRESENT_LISTINGS;
    let root = if present { "ServiceEndpoint" } else { "AccountName" };
    let mut xml = Writer::default();
    xml.open_with("EnumerationResults", &[(root, endpoint)]);
    xml.optional("Prefix", asked.prefix.as_ref())
        .optional("Marker", asked.marker.as_ref())
        .optional("MaxResults", asked.max_results);
    if page.queues.is_empty() {
        xml.empty("Queues");
    } else {
        xml.open("Queues");
        for queue in &page.queues {
            xml.open("Queue").element("Name", &queue.name);
            if !present {
                xml.element("Url", format_args!("{endpoint}{}", queue.name));
            }
            if asked.op.include_metadata {
                metadata(&mut xml, &queue.metadata);
            }
            xml.close("Queue");
        }
        xml.close("Queues");
    }
    match &page.next {
        Some(next) => xml.element("NextMarker", next),
        None => xml.empty("NextMarker"),
    };
    xml.close("EnumerationResults");
    read(version).with_body(XML, xml.finish())
}

/// Names are identifiers, so that each can be an element of its own.
fn metadata(xml: &mut Writer, metadata: &Metadata) {
    if metadata.is_empty() {
        xml.empty("Metadata");
        return;
    }
    xml.open("Metadata");
    for (name, value) in metadata {
        xml.element(name, value);
    }
    xml.close("Metadata");
}
