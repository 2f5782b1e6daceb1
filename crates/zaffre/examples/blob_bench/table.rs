//! Tables over HTTP: inserting one by one and in batches, and getting by key, against Azurite.
//!
//! Must never count a batch as done because its answer came: what is in it is looked at as well.
//! Must never ask one server while another still works on what it was given.

use crate::client::Connection;
use crate::load::{self, Next, Outcome, Until};
use crate::report::{self, Peer, Result, Samples};
use crate::request::{Request, Signer};
use crate::servers::{Places, Server};
use crate::table_sizes;
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const CLIENTS: u32 = 64;
/// Each sends a batch, so that as many entities are on their way as with many clients.
const BATCH_CLIENTS: u32 = 16;
/// Entities in a batch: as many as it may have.
pub(crate) const BATCH: u32 = 100;
/// How many times Azurite's rate is asked for.
const BAR: f64 = 15.0;
/// The least that batches must do in one partition, in entities per second.
const LEAST: f64 = 2_000.0;
/// Entities that are got by their keys.
const KNOWN: u32 = 1_000;
const BOUNDARY: &str = "batch_0";
const CHANGESET: &str = "changeset_0";

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    rounds: u32,
    seconds: u32,
    /// Entities in the large table.
    pub(crate) entities: u32,
}

pub(crate) const FULL: Plan = Plan { rounds: 11, seconds: 2, entities: 1_000_000 };
pub(crate) const QUICK: Plan = Plan { rounds: 3, seconds: 1, entities: 50_000 };

#[derive(Default)]
struct Rates {
    insert: Samples,
    batch: Samples,
    get: Samples,
}

pub(crate) async fn bench(places: &Places, plan: Plan) -> Result<()> {
    report::fact(crate::azurite(places)?);
    let ours = Server::our_tables(places, &places.data.join("ours"))?;
    let azurite = Server::azurite_tables(places, &places.data.join("azurite"))?;
    for server in [&ours, &azurite] {
        create(server.address, "known").await?;
        fill(server.address, "known", KNOWN).await?;
        // Not counted: the peer's compiler and caches get warm.
        round(server.address, "warm", &mut Rates::default(), 2 * plan.seconds).await?;
        server.rest().await?;
    }
    let bare = Bare::start(ours.address).await?;
    let (mut mine, mut theirs) = (Rates::default(), Rates::default());
    let mut bound = Rates::default();
    for number in 1..=plan.rounds {
        let name = format!("round{number}");
        for (server, rates) in [(&ours, &mut mine), (&azurite, &mut theirs)] {
            round(server.address, &name, rates, plan.seconds).await?;
            server.rest().await?;
        }
        bare.round(&mut bound, plan.seconds).await?;
        println!("  round {number} of {} is over", plan.rounds);
    }
    let peer = |figure| Peer { name: "Azurite", figure };
    let insert = "insert a small entity, 64 clients, one partition";
    let batch = "entities in batches of 100, 16 clients, one partition";
    report::row(insert, "/s", &mine.insert, peer(&theirs.insert), BAR);
    report::row(batch, "/s", &mine.batch, peer(&theirs.batch), BAR);
    for (name, theirs, bound) in
        [("insert", &theirs.insert, &bound.insert), ("batch", &theirs.batch, &bound.batch)]
    {
        report::figure(&format!("{name}: bare hyper, which stores nothing"), "/s", bound);
        let wanted = Samples::from_iter([100.0 * BAR * theirs.median() / bound.median()]);
        report::figure(&format!("{name}: the bar of {BAR} x Azurite, of bare hyper"), "%", &wanted);
    }
    let bar: Samples = std::iter::repeat_n(LEAST, usize::try_from(plan.rounds)?).collect();
    report::row(batch, "/s", &mine.batch, Peer { name: "the least", figure: &bar }, 1.0);
    report::row("get an entity by its keys, 64 clients", "/s", &mine.get, peer(&theirs.get), BAR);
    drop((ours, azurite, bare));
    table_sizes::measure(places, plan).await?;
    std::fs::remove_dir_all(&places.data)?;
    Ok(())
}

/// Each round has tables of its own, so that no round is slower for what earlier ones left.
async fn round(address: SocketAddr, name: &str, rates: &mut Rates, seconds: u32) -> Result<()> {
    let time = Until::Passed(Duration::from_secs(seconds.into()));
    let (single, batched) = (format!("{name}single"), format!("{name}batched"));
    create(address, &single).await?;
    create(address, &batched).await?;
    let inserted = load::run(address, CLIENTS, time, inserts(&single)?).await?;
    rates.insert.push(inserted.per_second);
    let sent = load::run(address, BATCH_CLIENTS, time, batches(&batched)?).await?;
    // The answer to a batch is good even if what it asks for was refused.
    check(address, &batched, sent.answers / 2 * BATCH).await?;
    rates.batch.push(sent.per_second * f64::from(BATCH));
    let got = load::run(address, CLIENTS, time, gets("known")?).await?;
    rates.get.push(got.per_second);
    println!(
        "  insert {:.0}/s, in batches {:.0}/s, get {:.0}/s",
        inserted.per_second,
        sent.per_second * f64::from(BATCH),
        got.per_second
    );
    Ok(())
}

/// Bare hyper servers that take the same requests and answer as many bytes: no server that has to do
/// something with them can be faster under this loader.
struct Bare {
    insert: Server,
    batch: Server,
}

impl Bare {
    /// `ours` shows how long the answer to a batch is.
    async fn start(ours: SocketAddr) -> Result<Self> {
        create(ours, "sample").await?;
        let sample = batches("sample")?(0)?;
        let length = Connection::open(ours).await?.ask(&sample).await?;
        Ok(Self { insert: Server::bare(204, 0)?, batch: Server::bare(202, length)? })
    }

    async fn round(&self, rates: &mut Rates, seconds: u32) -> Result<()> {
        let time = Until::Passed(Duration::from_secs(seconds.into()));
        let sent = load::run(self.insert.address, CLIENTS, time, inserts("bare")?).await?;
        rates.insert.push(sent.per_second);
        let sent = load::run(self.batch.address, BATCH_CLIENTS, time, batches("bare")?).await?;
        rates.batch.push(sent.per_second * f64::from(BATCH));
        Ok(())
    }
}

/// Writes to a server that runs already, into a table of its own.
pub(crate) async fn drive(address: SocketAddr, batched: bool, until: Until) -> Result<Outcome> {
    let table = format!("driven{}", std::process::id());
    create(address, &table).await?;
    if batched {
        load::run(address, BATCH_CLIENTS, until, batches(&table)?).await
    } else {
        load::run(address, CLIENTS, until, inserts(&table)?).await
    }
}

/// Makes a table.
pub(crate) async fn create(address: SocketAddr, table: &str) -> Result<()> {
    let body = Bytes::from(format!("{{\"TableName\":\"{table}\"}}"));
    let create = Signer::new()?.table("POST", "/Tables", body, JSON, 204)?;
    Connection::open(address).await?.ask(&create).await?;
    Ok(())
}

/// Puts the first so many entities into a table, in whole batches.
pub(crate) async fn fill(address: SocketAddr, table: &str, entities: u32) -> Result<()> {
    let until = Until::Done(entities / BATCH);
    load::run(address, BATCH_CLIENTS, until, batches(table)?).await?;
    check(address, table, 0).await?;
    check(address, table, entities - 1).await
}

async fn check(address: SocketAddr, table: &str, number: u32) -> Result<()> {
    let get = Signer::new()?.table("GET", &place(table, number), Bytes::new(), JSON, 200)?;
    Connection::open(address).await?.ask(&get).await?;
    Ok(())
}

const JSON: &str = "application/json";

/// Digits of a row key: always as many, so that the head of the request is always the same.
const ROW_KEY: usize = 10;

fn row_key(number: u32) -> String {
    format!("{number:0ROW_KEY$}")
}

fn entity(number: u32) -> String {
    let row = row_key(number);
    format!(
        "{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Name\":\"a small entity\",\"Count\":42}}"
    )
}

fn place(table: &str, number: u32) -> String {
    format!("/{table}(PartitionKey='p',RowKey='{}')", row_key(number))
}

/// The body of a request whose row keys are others each time: written once, so that the loader's
/// own work is as small as can be, for every server.
struct Form {
    text: Vec<u8>,
    /// Where the row keys are.
    rows: Vec<usize>,
}

impl Form {
    fn new(text: String) -> Self {
        let rows = text.match_indices(&row_key(0)).map(|(at, _)| at).collect();
        Self { text: text.into_bytes(), rows }
    }

    /// The body with the row keys from `first` on.
    fn filled(&self, first: u32) -> Bytes {
        let mut text = self.text.clone();
        for (at, number) in self.rows.iter().zip(first..) {
            let mut left = number;
            for digit in text[*at..*at + ROW_KEY].iter_mut().rev() {
                *digit = b'0' + u8::try_from(left % 10).unwrap_or_default();
                left /= 10;
            }
        }
        text.into()
    }
}

/// A request whose body is another one each time: a table's signature is not over the body.
fn with_bodies(target: &str, content_type: &str, status: u16, body: String) -> Result<Next> {
    let form = Form::new(body);
    let each = u32::try_from(form.rows.len())?;
    let first = Signer::new()?.table("POST", target, form.filled(0), content_type, status)?;
    Ok(Arc::new(move |number| Ok(Request { body: form.filled(number * each), ..first.clone() })))
}

fn inserts(table: &str) -> Result<Next> {
    with_bodies(&format!("/{table}"), JSON, 204, entity(0))
}

fn batches(table: &str) -> Result<Next> {
    let content_type = format!("multipart/mixed; boundary={BOUNDARY}");
    with_bodies("/$batch", &content_type, 202, batch(table))
}

/// A batch whose entities all have the first row key.
fn batch(table: &str) -> String {
    let one = format!(
        "--{CHANGESET}\r\nContent-Type: application/http\r\n\
         Content-Transfer-Encoding: binary\r\n\r\n\
         POST http://127.0.0.1/devstoreaccount1/{table} HTTP/1.1\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json;odata=nometadata\r\n\
         Prefer: return-no-content\r\nDataServiceVersion: 3.0\r\n\r\n{}\r\n",
        entity(0)
    );
    let all = one.repeat(usize::try_from(BATCH).unwrap_or_default());
    format!(
        "--{BOUNDARY}\r\nContent-Type: multipart/mixed; boundary={CHANGESET}\r\n\r\n{all}\
         --{CHANGESET}--\r\n--{BOUNDARY}--\r\n"
    )
}

fn gets(table: &str) -> Result<Next> {
    let signer = Signer::new()?;
    let get = |number| signer.table("GET", &place(table, number), Bytes::new(), JSON, 200);
    let all = (0..KNOWN).map(get).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(move |number| Ok(all[usize::try_from(number % KNOWN)?].clone())))
}
