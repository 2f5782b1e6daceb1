//! What a page of entities costs in tables of very different sizes.
//!
//! Must never ask for more than a page: what is compared is finding its beginning.

use crate::client::Connection;
use crate::report::{self, Peer, Result, Samples, per_second};
use crate::request::{Request, Signer};
use crate::servers::{Places, Server};
use crate::table::{Plan, create, fill};
use bytes::Bytes;
use std::net::SocketAddr;
use std::time::Instant;

const FEW: u32 = 10_000;
const PAGE: u32 = 1_000;
/// Pages of each table, one after the other.
const PAGES: u32 = 40;

pub(crate) async fn measure(places: &Places, plan: Plan) -> Result<()> {
    let server = Server::our_tables(places, &places.data.join("sizes"))?;
    for (table, count) in [("few", FEW), ("many", plan.entities)] {
        create(server.address, table).await?;
        fill(server.address, table, count).await?;
        println!("  a table of {count} entities is filled");
    }
    let (mut few, mut many) = (Samples::default(), Samples::default());
    // The first of each is not counted: it checks what is in the page.
    check(server.address, &page("few", FEW)?).await?;
    check(server.address, &page("many", plan.entities)?).await?;
    for _ in 0..PAGES {
        few.push(pages_per_second(server.address, &page("few", FEW)?).await?);
        many.push(pages_per_second(server.address, &page("many", plan.entities)?).await?);
    }
    let peer = Peer { name: "the page of 10000 entities", figure: &few };
    let name = format!("page of {PAGE} by key range of {} entities", plan.entities);
    // The same within 30 % of the cost.
    report::row(&name, "/s", &many, peer, 1.0 / 1.3);
    Ok(())
}

/// A page in the middle of the table.
fn page(table: &str, entities: u32) -> Result<Request> {
    let from = entities / 2;
    let target = format!(
        "/{table}()?$filter=PartitionKey%20eq%20'p'%20and%20RowKey%20ge%20'{from:010}'\
         %20and%20RowKey%20lt%20'{:010}'&$top={PAGE}",
        from + PAGE
    );
    Signer::new()?.table("GET", &target, Bytes::new(), "application/json", 200)
}

async fn check(address: SocketAddr, page: &Request) -> Result<()> {
    let answer = Connection::open(address).await?.ask_whole(page).await?;
    let found = String::from_utf8(answer)?.matches("\"RowKey\":").count();
    if found == usize::try_from(PAGE)? { Ok(()) } else { Err(format!("{found} in a page").into()) }
}

async fn pages_per_second(address: SocketAddr, page: &Request) -> Result<f64> {
    let mut connection = Connection::open(address).await?;
    let begun = Instant::now();
    connection.ask(page).await?;
    Ok(per_second(1, begun.elapsed()))
}
