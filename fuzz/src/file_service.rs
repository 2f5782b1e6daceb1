//! Any head goes through the File service's routing and parsing to one operation or one error, the
//! same every time, about exactly what the URL names; and permissions in JSON come back.

use crate::head;
use zaffre_base::Guid;
use zaffre_domain::fs::Descriptor;
use zaffre_file::operation::Level;
use zaffre_file::parse::{self, permission};
use zaffre_file::route::route;
use zaffre_file::target::Target;
use zaffre_http::{Asked, Destination, RequestHead, versions};

/// The target.
pub fn run(input: &[u8]) {
    if let Ok(descriptor) = permission::body(input)
        && let Ok(bytes) = descriptor.to_bytes()
    {
        assert_eq!(Descriptor::from_bytes(&bytes).ok(), Some(descriptor));
    }
    let Some(head) = head::decode(input) else { return };
    let first = outcome(&head);
    assert_eq!(first, outcome(&head), "one request, two meanings");
}

fn outcome(head: &RequestHead) -> Result<String, &'static str> {
    let length = head.headers.get("content-length");
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    let to = Destination::read(head, true).map_err(|error| error.code)?;
    let version = versions::effective(head).map_err(|error| error.code)?;
    let asked = Asked::new(head, to, length, version).map_err(|error| error.code)?;
    let target = Target::parse(&asked.to.path).map_err(|error| error.code)?;
    let kind = route(&target, &asked).map_err(|error| error.code)?;
    let path = parse::path(kind, &target, &asked).map_err(|error| error.code)?;
    let named = format!("{path:?}");
    let operation = parse::operation(kind, &target, path, &asked, &|| Ok(Guid(7)));
    let shown = format!("{:?}", operation.map_err(|error| error.code)?);
    if kind.level() != Level::Share {
        assert!(shown.contains(&named), "{shown} is not about {named}");
    }
    Ok(shown)
}
