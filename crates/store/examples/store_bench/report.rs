//! What a bench prints: one line per fact or comparison, which `cargo xtask bench` turns into a table.
//!
//! Must never judge: the bar is printed beside the figure, and the reader compares.

use std::fmt::Display;

/// How a bench fails: with a sentence.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Figures of one kind from several rounds.
#[derive(Clone, Default, Debug)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// The middle figure, so that a round that somebody else disturbed does not count.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            odd if odd % 2 == 1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        }
    }

    pub(crate) fn worst_high(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

/// A peer's figure: whose, and how much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer<'a> {
    pub(crate) name: &'a str,
    pub(crate) figure: &'a Samples,
}

/// Ours against a peer's, where more is better and `bar` is the least ratio that passes. The ratio
/// is the middle one of the rounds: the two halves of a round are neighbours in time, so whatever
/// else the machine was doing weighed on both.
pub(crate) fn row(name: &str, unit: &str, ours: &Samples, peer: Peer<'_>, bar: f64) {
    let pairs = ours.0.iter().zip(&peer.figure.0);
    let ratio = pairs.map(|(mine, theirs)| mine / theirs).collect::<Samples>().median();
    let (mine, theirs) = (ours.median(), peer.figure.median());
    println!("row\t{name}\t{unit}\t{mine:.3}\t{}\t{theirs:.3}\t{ratio:.4}\t{bar}", peer.name);
    raw(name, ours);
    raw(peer.name, peer.figure);
}

/// A figure that may be at most `most`.
pub(crate) fn limit(name: &str, unit: &str, figure: f64, most: f64) {
    println!("limit\t{name}\t{unit}\t{figure:.3}\t{most}");
}

/// A figure without a bar.
pub(crate) fn figure(name: &str, unit: &str, samples: &Samples) {
    println!("figure\t{name}\t{unit}\t{:.3}", samples.median());
    raw(name, samples);
}

/// Something the reader of the table must know.
pub(crate) fn fact(text: impl Display) {
    println!("fact\t{text}");
}

fn raw(name: &str, samples: &Samples) {
    let figures: Vec<String> = samples.0.iter().map(|figure| format!("{figure:.1}")).collect();
    println!("  rounds of {name}: {}", figures.join(" "));
}

/// Events per second.
pub(crate) fn per_second(events: u32, spent: std::time::Duration) -> f64 {
    f64::from(events) / spent.as_secs_f64()
}
