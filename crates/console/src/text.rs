//! The text format that Prometheus reads.
//!
//! Must never write a label value unescaped.

use std::fmt::Write;
use zaffre_base::measure::Counted;

/// A page under construction.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

/// Names with values.
pub(crate) type Labels<'a> = [(&'a str, &'a str)];

impl Page {
    /// Begins a family of values; `kind` is `counter`, `gauge` or `histogram`.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// One value.
    pub(crate) fn value(&mut self, name: &str, labels: &Labels<'_>, value: u64) {
        let labels = joined(labels, None);
        self.put(format_args!("{name}{labels} {value}\n"));
    }

    /// A histogram whose values are divided by `scale`.
    pub(crate) fn histogram(
        &mut self,
        name: &str,
        labels: &Labels<'_>,
        counted: &Counted,
        scale: u32,
    ) {
        for (bound, count) in &counted.up_to {
            let labels = joined(labels, Some(&scaled(*bound, scale)));
            self.put(format_args!("{name}_bucket{labels} {count}\n"));
        }
        let (sum, count) = (scaled(counted.sum, scale), counted.count);
        let all = joined(labels, Some("+Inf"));
        let labels = joined(labels, None);
        self.put(format_args!(
            "{name}_bucket{all} {count}\n{name}_sum{labels} {sum}\n{name}_count{labels} {count}\n"
        ));
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.0.write_fmt(text);
    }
}

/// Divides by a power of ten without losing a digit.
fn scaled(value: u64, scale: u32) -> String {
    let scale = u64::from(scale.max(1));
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = scale.to_string().len() - 1;
    format!("{whole}.{rest:0digits$}").trim_end_matches('0').to_owned()
}

fn joined(labels: &Labels<'_>, bound: Option<&str>) -> String {
    let all = labels.iter().copied().chain(bound.map(|bound| ("le", bound)));
    let pairs: Vec<String> =
        all.map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let mut page = Page::default();
        page.family("a_total", "counter", "What it is.");
        page.value("a_total", &[], 3);
        page.value("a_total", &[("x", "a\"b\\c\nd")], 4);
        let counted = Counted { up_to: vec![(500, 1), (2_500_000, 2)], count: 3, sum: 10_000_001 };
        page.histogram("h", &[("s", "t")], &counted, 1_000_000);
        assert_eq!(
            page.finish(),
            "# HELP a_total What it is.\n# TYPE a_total counter\na_total 3\n\
             a_total{x=\"a\\\"b\\\\c\\nd\"} 4\nh_bucket{s=\"t\",le=\"0.0005\"} 1\n\
             h_bucket{s=\"t\",le=\"2.5\"} 2\nh_bucket{s=\"t\",le=\"+Inf\"} 3\n\
             h_sum{s=\"t\"} 10.000001\nh_count{s=\"t\"} 3\n"
        );
    }

    #[test]
    fn scales() {
        for (value, scale, want) in
            [(0, 1, "0"), (7, 1, "7"), (1, 1_000, "0.001"), (1_500, 1_000, "1.5"), (9, 0, "9")]
        {
            assert_eq!(scaled(value, scale), want);
        }
    }
}
