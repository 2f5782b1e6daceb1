//! The work of one round: what is asked, by how many, and how long it took.

use super::Plan;
use super::client::{Client, Login, expect};
use super::wire::{self, Id};
use crate::report::Result;
use std::time::Instant;

const MIB: usize = 1 << 20;
const SMALL: usize = 4 << 10;
/// Requests of a connection that are on their way at once.
const DEPTH: u32 = 4;
/// Connections with small requests.
const MANY: u32 = 4;
/// Small pieces of a file that is written and read at random.
const PIECES: u32 = 16_384;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    Write,
    Read,
    SmallWrite,
    SmallRead,
    Files,
}

impl Work {
    pub(crate) const ALL: [Self; 5] =
        [Self::Write, Self::Read, Self::SmallWrite, Self::SmallRead, Self::Files];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Write => "write in order, 1 MiB each",
            Self::Read => "read in order, 1 MiB each",
            Self::SmallWrite => "write 4 KiB anywhere",
            Self::SmallRead => "read 4 KiB anywhere",
            Self::Files => "make, write 4 KiB and close files",
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Write | Self::Read => "MiB/s",
            Self::SmallWrite | Self::SmallRead | Self::Files => "/s",
        }
    }

    pub(crate) fn operation(self) -> &'static str {
        match self {
            Self::Write => "MiB written",
            Self::Read => "MiB read",
            Self::SmallWrite => "4 KiB written",
            Self::SmallRead => "4 KiB read",
            Self::Files => "file",
        }
    }
}

/// What came of it.
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    pub(crate) operations: f64,
}

/// Does the work.
pub(crate) fn run(login: &Login, work: Work, plan: Plan, round: u32) -> Result<Figures> {
    let (connections, each) = match work {
        Work::Write | Work::Read => (1, plan.whole_mib),
        Work::SmallWrite | Work::SmallRead => (MANY, plan.small),
        Work::Files => (MANY, plan.files),
    };
    let clients: Result<Vec<Client>> = (0..connections).map(|_| Client::open(login)).collect();
    let begun = Instant::now();
    std::thread::scope(|scope| -> Result<()> {
        let working: Vec<_> = clients?
            .into_iter()
            .zip(0..)
            .map(|(client, number)| scope.spawn(move || one(client, work, each, round, number)))
            .collect();
        for thread in working {
            thread.join().map_err(|_| "a thread of the loader panicked")??;
        }
        Ok(())
    })?;
    let operations = f64::from(connections) * f64::from(each);
    Ok(Figures { per_second: operations / begun.elapsed().as_secs_f64(), operations })
}

/// The work of one connection.
fn one(mut client: Client, work: Work, count: u32, round: u32, number: u32) -> Result<()> {
    match work {
        Work::Files => {
            let data = vec![0x5A; SMALL];
            for file in 0..count {
                let id = client.create(&format!("small-{round}-{number}-{file}"))?;
                client.write(id, 0, &data)?;
                client.close(id)?;
            }
        }
        Work::Write | Work::Read | Work::SmallWrite | Work::SmallRead => {
            // One whole file per round, so that space is not what is measured.
            let name = match work {
                Work::Write | Work::Read => format!("whole-{}", round % 2),
                _ => format!("disk-{number}"),
            };
            let id = client.create(&name)?;
            pipelined(&mut client, id, work, count)?;
            if matches!(work, Work::Write | Work::SmallWrite) {
                client.flush(id)?;
            }
            client.close(id)?;
        }
    }
    Ok(())
}

fn pipelined(client: &mut Client, id: Id, work: Work, count: u32) -> Result<()> {
    let size = if matches!(work, Work::Write | Work::Read) { MIB } else { SMALL };
    let data = vec![0xA5; size];
    let (mut sent, mut done) = (0, 0);
    while done < count {
        while sent < count && sent - done < DEPTH {
            let place = match work {
                Work::Write | Work::Read | Work::Files => sent,
                // Anywhere, the same for both.
                Work::SmallWrite | Work::SmallRead => sent.wrapping_mul(0x9E37_79B9) % PIECES,
            };
            let offset = u64::from(place) * u64::try_from(size)?;
            match work {
                Work::Write | Work::SmallWrite => {
                    client.send(wire::WRITE, &wire::write(id, offset, &data), size)?;
                }
                Work::Read | Work::SmallRead | Work::Files => {
                    client.send(wire::READ, &wire::read(id, offset, size), size)?;
                }
            }
            sent += 1;
        }
        let answer = client.answer()?;
        expect(&answer, 0, work.name())?;
        if matches!(work, Work::Read | Work::SmallRead) && answer.bytes.len() < size {
            return Err("a short read".into());
        }
        done += 1;
    }
    Ok(())
}
