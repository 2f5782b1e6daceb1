//! What a bench program prints, line by line, and the table made of it.
//!
//! Must never show a figure without its bar, if it has one.

/// A line of a bench program: words separated by tabs, the first says what it is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Line {
    /// `row name unit ours peer's-name peer's ratio bar`: more is better, the ratio of ours to the
    /// peer's must reach the bar.
    Row { name: String, unit: String, ours: f64, peer: String, theirs: f64, ratio: f64, bar: f64 },
    /// `limit name unit figure most`: less is better.
    Limit { name: String, unit: String, figure: f64, most: f64 },
    /// `figure name unit figure`: for information.
    Figure { name: String, unit: String, figure: f64 },
    /// `fact text`: what the reader of the table must know.
    Fact(String),
    /// Anything else is passed on to the terminal.
    Other,
}

impl Line {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let broken = || format!("`{line}` is no line of a bench");
        let number = |text: &str| -> Result<f64, String> {
            text.parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(broken)
        };
        Ok(match line.split('\t').collect::<Vec<_>>()[..] {
            ["row", name, unit, ours, peer, theirs, ratio, bar] => Self::Row {
                name: name.into(),
                unit: unit.into(),
                ours: number(ours)?,
                peer: peer.into(),
                theirs: number(theirs)?,
                ratio: number(ratio)?,
                bar: number(bar)?,
            },
            ["limit", name, unit, figure, most] => Self::Limit {
                name: name.into(),
                unit: unit.into(),
                figure: number(figure)?,
                most: number(most)?,
            },
            ["figure", name, unit, figure] => {
                Self::Figure { name: name.into(), unit: unit.into(), figure: number(figure)? }
            }
            ["fact", text] => Self::Fact(text.into()),
            ["row" | "limit" | "figure" | "fact", ..] => return Err(broken()),
            _ => Self::Other,
        })
    }

    /// Whether the bar is reached; `None` if there is none.
    pub(super) fn passes(&self) -> Option<bool> {
        match self {
            Self::Row { ratio, bar, .. } => Some(ratio >= bar),
            Self::Limit { figure, most, .. } => Some(figure <= most),
            Self::Figure { .. } | Self::Fact(_) | Self::Other => None,
        }
    }

    /// The cells of its row in the table: what, ours, peer's, ratio, bar, pass.
    fn cells(&self) -> Option<[String; 6]> {
        let pass = match self.passes() {
            Some(true) => "yes",
            Some(false) => "**NO**",
            None => "",
        };
        let empty = String::new;
        Some(match self {
            Self::Row { name, unit, ours, peer, theirs, ratio, bar } => [
                name.clone(),
                show(*ours, unit),
                format!("{peer}: {}", show(*theirs, unit)),
                format!("{ratio:.2}"),
                format!("≥ {bar}"),
                pass.into(),
            ],
            Self::Limit { name, unit, figure, most } => [
                name.clone(),
                show(*figure, unit),
                empty(),
                empty(),
                format!("≤ {}", show(*most, unit)),
                pass.into(),
            ],
            Self::Figure { name, unit, figure } => {
                [name.clone(), show(*figure, unit), empty(), empty(), empty(), empty()]
            }
            Self::Fact(_) | Self::Other => return None,
        })
    }
}

/// A figure with as many digits as mean something.
fn show(figure: f64, unit: &str) -> String {
    let digits = if figure.abs() >= 100.0 || figure == 0.0 { 0 } else { 2 };
    format!("{figure:.digits$} {unit}").trim_end().to_owned()
}

/// The facts as a list, then the table.
pub(super) fn table(lines: &[Line]) -> String {
    let facts = lines.iter().filter_map(|line| match line {
        Line::Fact(fact) => Some(format!("- {fact}\n")),
        _ => None,
    });
    let head = "\n| what | ours | peer | ratio | bar | pass |\n|---|---|---|---|---|---|\n";
    let rows = lines.iter().filter_map(Line::cells).map(|c| format!("| {} |\n", c.join(" | ")));
    facts.chain([head.to_owned()]).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::{Line, table};

    #[test]
    fn lines_are_parsed_strictly() {
        let row = |ratio| Line::Row {
            name: "put".into(),
            unit: "/s".into(),
            ours: 10.0,
            peer: "fio".into(),
            theirs: 20.5,
            ratio,
            bar: 0.5,
        };
        let limit =
            Line::Limit { name: "start".into(), unit: "ms".into(), figure: 7.5, most: 100.0 };
        let figure = Line::Figure { name: "p99".into(), unit: "ms".into(), figure: 3.0 };
        let cases = [
            ("row\tput\t/s\t10\tfio\t20.5\t0.49\t0.5", Ok(row(0.49)), Some(false)),
            ("row\tput\t/s\t10\tfio\t20.5\t0.5\t0.5", Ok(row(0.5)), Some(true)),
            ("limit\tstart\tms\t7.5\t100", Ok(limit), Some(true)),
            ("figure\tp99\tms\t3", Ok(figure), None),
            ("fact\tfio 3", Ok(Line::Fact("fio 3".into())), None),
            ("round 1 of 3", Ok(Line::Other), None),
            ("row\tput\t/s\t10\tfio\t20.5\tNaN\t0.5", Err(()), None),
            ("row\tput\t/s\t10\tfio\tfast\t0.5\t0.5", Err(()), None),
            ("limit\tstart\tms\t7.5", Err(()), None),
        ];
        for (text, expected, passes) in cases {
            let parsed = Line::parse(text).map_err(|_| ());
            assert_eq!(parsed, expected, "{text}");
            assert_eq!(parsed.ok().and_then(|line| line.passes()), passes, "{text}");
        }
    }

    #[test]
    fn the_table_shows_who_passes() {
        let lines = [
            "fact\tfio 3",
            "row\tget\t/s\t49\thyper\t100\t0.49\t0.5",
            "limit\tstart\tms\t250.4\t100",
            "figure\tp99\tms\t3.14159",
        ];
        let lines: Vec<Line> = lines.iter().flat_map(|line| Line::parse(line)).collect();
        let text = table(&lines);
        let shown: Vec<&str> = text.lines().collect();
        assert_eq!(shown[0], "- fio 3");
        assert_eq!(
            shown[4..],
            [
                "| get | 49.00 /s | hyper: 100 /s | 0.49 | ≥ 0.5 | **NO** |",
                "| start | 250 ms |  |  | ≤ 100 ms | **NO** |",
                "| p99 | 3.14 ms |  |  |  |  |",
            ]
        );
    }
}
