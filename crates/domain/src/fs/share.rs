//! What a share is said to be made for.

/// The access tier of a share; a name only, since all shares are stored alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AccessTier {
    /// For many transactions; what a share has that was made without asking.
    #[default]
    TransactionOptimized,
    /// For files in use.
    Hot,
    /// For files put away.
    Cool,
}

impl AccessTier {
    /// As the service spells it.
    pub fn text(self) -> &'static str {
        match self {
            Self::TransactionOptimized => "TransactionOptimized",
            Self::Hot => "Hot",
            Self::Cool => "Cool",
        }
    }

    /// Reads it, in any case; `None` for a tier that shares of such an account cannot have.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::TransactionOptimized, Self::Hot, Self::Cool];
        all.into_iter().find(|tier| tier.text().eq_ignore_ascii_case(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (text, want) in [
            ("TransactionOptimized", Some(AccessTier::TransactionOptimized)),
            ("hot", Some(AccessTier::Hot)),
            ("Cool", Some(AccessTier::Cool)),
            ("Premium", None),
            ("", None),
        ] {
            assert_eq!(AccessTier::parse(text), want, "{text}");
        }
    }
}
