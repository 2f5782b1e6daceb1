//! A small deterministic generator: what a seed decides, it always decides the same way.

/// The generator; its state is public so that a test can print or derive it.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number, of 31 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }

    /// An index below `bound`; 0 if that is 0.
    pub fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }

    /// A byte below `bound`; 0 if that is 0.
    pub fn byte(&mut self, bound: u8) -> u8 {
        u8::try_from(self.below(u64::from(bound))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let draw = |seed| {
            let mut random = Random(seed);
            (0..50).map(|_| random.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!(draw(7).iter().all(|n| *n < 1_000));
    }
}
