//! Files over SMB against Debian's smbd on the same disk.
//!
//! One client for both: 3.1.1, every request signed with AES-GMAC. Must never let both servers work at
//! once: rounds alternate.

mod client;
mod load;
mod samba;
mod wire;

use crate::client::Connection;
use crate::report::{self, Peer, Result, Samples};
use crate::request::Signer;
use crate::servers::{Places, Server};
use client::Login;
use load::{Figures, Work};
use samba::Samba;
use zaffre_auth::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};

/// What every line must reach of the peer's rate.
const BAR: f64 = 0.8;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    rounds: u32,
    /// Bytes of a file that is written and read from one end to the other.
    whole_mib: u32,
    /// Small reads and writes of each connection.
    small: u32,
    /// Small files that each connection makes.
    files: u32,
}

pub(crate) const FULL: Plan = Plan { rounds: 11, whole_mib: 512, small: 16_384, files: 1_000 };
pub(crate) const QUICK: Plan = Plan { rounds: 3, whole_mib: 256, small: 8_192, files: 400 };

/// One server with what was measured of it.
struct Side {
    login: Login,
    figures: [Samples; Work::ALL.len()],
    cpu: [Samples; Work::ALL.len()],
}

impl Side {
    fn new(login: Login) -> Self {
        let (figures, cpu) = Default::default();
        Self { login, figures, cpu }
    }

    async fn round(
        &mut self,
        plan: Plan,
        round: u32,
        used: impl Fn() -> Result<f64>,
    ) -> Result<()> {
        for (at, work) in Work::ALL.into_iter().enumerate() {
            let login = self.login.clone();
            let before = used()?;
            let done = tokio::task::spawn_blocking(move || load::run(&login, work, plan, round));
            let Figures { per_second, operations } = done.await??;
            let spent = used()? - before;
            self.figures[at].push(per_second);
            self.cpu[at].push(spent / operations);
            println!("  {}: {per_second:.0} {}", work.name(), work.unit());
        }
        Ok(())
    }
}

pub(crate) async fn bench(places: &Places, plan: Plan) -> Result<()> {
    report::fact(format!(
        "smbd {} of Debian; 3.1.1, AES-GMAC, one loader for both",
        samba::version()?
    ));
    report::fact(
        "reads and writes: 1 connection with 4 requests of 1 MiB, or 4 with 4 of 4 KiB each; FLUSH ends a round",
    );
    let (ours, rest) = Server::our_smb(places, &places.data.join("ours"))?;
    Connection::open(rest).await?.ask(&Signer::new()?.create_share("bench")?).await?;
    let (user, password) = (DEVELOPMENT_ACCOUNT.to_owned(), DEVELOPMENT_KEY.to_owned());
    let mut our = Side::new(Login { address: ours.address, user, password, share: "bench".into() });
    let default = Samba::start(&places.data.join("smbd"), false)?;
    let safe = Samba::start(&places.data.join("smbd-sync"), true)?;
    let (mut peer, mut synced) = (Side::new(default.login()), Side::new(safe.login()));
    for round in 1..=plan.rounds {
        println!("  ours");
        our.round(plan, round, || ours.cpu_seconds()).await?;
        println!("  smbd");
        peer.round(plan, round, || default.cpu_seconds()).await?;
        println!("  smbd, sync always");
        synced.round(plan, round, || safe.cpu_seconds()).await?;
        println!("  round {round} of {} is over", plan.rounds);
    }
    for (at, work) in Work::ALL.into_iter().enumerate() {
        let (name, unit) = (work.name(), work.unit());
        let row = |side: &Side, name_of: &str, bar: f64| {
            let peer = Peer { name: name_of, figure: &side.figures[at] };
            report::row(name, unit, &our.figures[at], peer, bar);
        };
        if work == Work::Files {
            row(&synced, "smbd, sync always = yes", BAR);
            row(&peer, "smbd", 0.0);
        } else {
            row(&peer, "smbd", BAR);
        }
        let what = format!("CPU per {}", work.operation());
        for (side, whose) in [(&our, "ours"), (&peer, "smbd"), (&synced, "smbd, sync always = yes")]
        {
            let micro: Samples = [side.cpu[at].median() * 1e6].into_iter().collect();
            report::figure(&format!("{what}, {whose}"), "µs", &micro);
        }
    }
    drop((ours, default, safe));
    std::fs::remove_dir_all(&places.data)?;
    Ok(())
}
