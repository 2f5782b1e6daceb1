//! Which layers of a chunk somebody can still see.
//!
//! A chunk is a stack of layers by the commit that made them. A *whole* layer stands for everything
//! up to it; the others lie over what is below. Who looks as of some commit sees the newest whole
//! layer up to it and all that lies between.

use alloc::vec::Vec;
use zaffre_base::Stamp;

/// One layer of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layer {
    /// The commit it stands for.
    pub stamp: Stamp,
    /// Whether it stands for everything up to its commit.
    pub whole: bool,
}

/// For each layer whether it can be seen as of one of `views`, or as of now. Several layers may
/// have one stamp; the whole one among them then covers the others.
pub fn needed(layers: &[Layer], views: &[Stamp]) -> Vec<bool> {
    let floors: Vec<(Stamp, Option<Stamp>)> = views
        .iter()
        .copied()
        .chain([Stamp(u64::MAX)])
        .map(|view| {
            let whole = layers.iter().filter(|layer| layer.whole && layer.stamp <= view);
            (view, whole.map(|layer| layer.stamp).max())
        })
        .collect();
    let seen = |layer: &Layer| {
        floors.iter().any(|(view, floor)| {
            let above = floor.is_none_or(|floor| layer.stamp > floor);
            let is_floor = layer.whole && *floor == Some(layer.stamp);
            layer.stamp <= *view && (above || is_floor)
        })
    };
    layers.iter().map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layers as text: `5` lies over what is below, `5w` is whole.
    fn kept(layers: &str, views: &[u64]) -> alloc::string::String {
        let words: Vec<&str> = layers.split_whitespace().collect();
        let parse = |word: &&str| {
            let (number, whole) = match word.strip_suffix('w') {
                Some(number) => (number, true),
                None => (*word, false),
            };
            Layer { stamp: Stamp(number.parse().unwrap_or(0)), whole }
        };
        let parsed: Vec<Layer> = words.iter().map(parse).collect();
        let views: Vec<Stamp> = views.iter().copied().map(Stamp).collect();
        let needed = needed(&parsed, &views);
        let kept: Vec<&str> =
            words.into_iter().zip(needed).filter(|(_, kept)| *kept).map(|(word, _)| word).collect();
        kept.join(" ")
    }

    #[test]
    fn rows() {
        for (layers, views, want) in [
            ("1 2 3", &[][..], "1 2 3"),
            ("1 2 3 3w", &[], "3w"),
            ("1w 2 3 3w 4", &[], "3w 4"),
            ("1w 2 3 3w 4", &[2], "1w 2 3w 4"),
            ("1w 2 3 3w 4", &[3], "3w 4"),
            ("1w 2 3 3w 4", &[1], "1w 3w 4"),
            ("1w 2 3 3w 4", &[0], "3w 4"),
            ("1w 2 3 3w 4 5w 6", &[2, 4], "1w 2 3w 4 5w 6"),
            ("1w 5w", &[3, 4], "1w 5w"),
            ("1w 5w", &[], "5w"),
            ("", &[7], ""),
        ] {
            assert_eq!(kept(layers, views), want, "{layers} seen as of {views:?}");
        }
    }
}
