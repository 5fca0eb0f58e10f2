//! Line charts as SVG.

use std::fmt::Write;

use super::page::{LIGHT, Table, escape};
use crate::interval::Estimate;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
/// Room for labels: left, right, top, bottom.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;
/// Height of a label.
const LABEL: f64 = 16.0;
/// Colours that the page's style defines.
const COLOURS: usize = 8;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Whether it is logarithmic (values must then be positive).
    pub log: bool,
    /// Its ends; `None` takes them from the points.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis, ends from the points.
    pub fn linear(label: &str) -> Axis {
        Axis {
            label: label.to_owned(),
            log: false,
            range: None,
        }
    }

    /// A logarithmic axis, ends from the points.
    pub fn log(label: &str) -> Axis {
        Axis {
            log: true,
            ..Axis::linear(label)
        }
    }

    /// With fixed ends.
    pub fn from_to(self, low: f64, high: f64) -> Axis {
        Axis {
            range: Some((low, high)),
            ..self
        }
    }

    fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let usable = values.filter(|v| v.is_finite() && (!self.log || *v > 0.0));
        let ends = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (low, high) = self.range.unwrap_or(ends);
        let (low, high) = if low < high { (low, high) } else { (0.1, 1.0) };
        Scale {
            log: self.log,
            low,
            high,
        }
    }
}

/// Values to shares of an axis.
struct Scale {
    log: bool,
    low: f64,
    high: f64,
}

impl Scale {
    fn share(&self, v: f64) -> f64 {
        let f = |x: f64| if self.log { x.max(1e-300).ln() } else { x };
        ((f(v) - f(self.low)) / (f(self.high) - f(self.low))).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
            let all = decades.flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)));
            let slack = 1.0 + 1e-9;
            return all
                .filter(|t| (self.low / slack..=self.high * slack).contains(t))
                .collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
        let step = step.into_iter().find(|s| *s >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let ticks = (first..).map(|i| i as f64 * step);
        ticks
            .take_while(|t| *t <= self.high + step * 1e-9)
            .collect()
    }
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up, with its interval.
    pub y: Estimate,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// A chart of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows, in a line.
    pub title: String,
    /// What can be seen in it, for who cannot see it.
    pub description: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

impl Chart {
    /// The chart as SVG. `id` must be unique in the page.
    pub fn svg(&self, id: &str) -> String {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let x = self.x.scale(points().map(|p| p.x));
        let y = self.y.scale(points().flat_map(|p| [p.y.low, p.y.high]));
        let px = |v: f64| LEFT + x.share(v) * (WIDTH - LEFT - RIGHT);
        let py = |v: f64| HEIGHT - BOTTOM - y.share(v) * (HEIGHT - TOP - BOTTOM);
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n\
             <text x=\"{LEFT}\" y=\"22\" font-weight=\"600\">{}</text>\n",
            escape(&self.title),
            escape(&self.description),
            escape(&self.title)
        );
        self.grid(&mut out, (&x, &px), (&y, &py));
        for (i, series) in self.series.iter().enumerate() {
            line(&mut out, series, i, &px, &py);
        }
        self.labels(&mut out, &px, &py);
        out.push_str("</svg>\n");
        out
    }

    /// The lines' names at the right, each as near to its line's end as the others allow, and a thin
    /// line from one to the other.
    fn labels(&self, out: &mut String, px: &dyn Fn(f64) -> f64, py: &dyn Fn(f64) -> f64) {
        let ends = self.series.iter().enumerate();
        let mut ends: Vec<(usize, f64, f64)> = ends
            .filter_map(|(i, s)| s.points.last().map(|p| (i, px(p.x), py(p.y.value))))
            .collect();
        ends.sort_by(|a, b| a.2.total_cmp(&b.2));
        let wanted: Vec<f64> = ends.iter().map(|e| e.2).collect();
        for ((i, x, y), at) in ends.into_iter().zip(spread(&wanted)) {
            let (left, colour) = (WIDTH - RIGHT + 10.0, i % COLOURS);
            let _ = writeln!(
                out,
                "<line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" style=\"stroke:var(--c{colour})\" \
                 stroke-dasharray=\"1 3\"/><text class=\"label\" x=\"{left:.1}\" y=\"{:.1}\" style=\"fill:var(--c{colour})\">{}</text>",
                x + 6.0,
                left - 3.0,
                at + 4.0,
                escape(&self.series[i].name)
            );
        }
    }

    /// The chart as a file of its own, on white.
    pub fn standalone(&self) -> String {
        let open = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"13\" style=\"{LIGHT}\" "
        );
        let style = "<style>text { fill: var(--ink); } .soft { fill: var(--soft); } \
                     .grid { stroke: var(--faint); } .axis { stroke: var(--soft); }</style>\n\
                     <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
        let svg = self.svg("chart").replacen("<svg ", &open, 1);
        svg.replacen("<title", &format!("{style}<title"), 1)
    }

    fn grid(
        &self,
        out: &mut String,
        (x, px): (&Scale, &dyn Fn(f64) -> f64),
        (y, py): (&Scale, &dyn Fn(f64) -> f64),
    ) {
        let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for t in y.ticks() {
            let at = py(t);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>\
                 <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                number(t)
            );
        }
        for t in x.ticks() {
            let at = px(t);
            let _ = writeln!(
                out,
                "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{floor}\" x2=\"{at:.1}\" y2=\"{:.1}\"/>\
                 <text class=\"soft\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                floor + 5.0,
                floor + 20.0,
                number(t)
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{floor}\" x2=\"{right}\" y2=\"{floor}\"/>\
             <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"soft\" x=\"16\" y=\"{:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1})\">{}</text>",
            (LEFT + right) / 2.0,
            HEIGHT - 10.0,
            escape(&self.x.label),
            (TOP + floor) / 2.0,
            (TOP + floor) / 2.0,
            escape(&self.y.label)
        );
    }

    /// The chart's numbers.
    pub fn table(&self) -> Table {
        let row = |series: &Series, p: &Point| {
            let interval = match p.y.is_exact() {
                true => "exact".to_owned(),
                false => format!("{} to {}", number(p.y.low), number(p.y.high)),
            };
            vec![
                series.name.clone(),
                number(p.x),
                number(p.y.value),
                interval,
            ]
        };
        let rows = self
            .series
            .iter()
            .flat_map(|s| s.points.iter().map(move |p| row(s, p)));
        Table {
            caption: self.title.clone(),
            head: ["Line", &self.x.label, &self.y.label, "95 % interval"]
                .map(str::to_owned)
                .to_vec(),
            rows: rows.collect(),
        }
    }
}

/// Heights for labels that are wanted at `wanted`, ascending: a line of text apart, within the chart
/// as long as there is room, and otherwise as wanted.
fn spread(wanted: &[f64]) -> Vec<f64> {
    let mut at = wanted.to_vec();
    for i in 1..at.len() {
        at[i] = at[i].max(at[i - 1] + LABEL);
    }
    let mut most = HEIGHT - BOTTOM;
    for y in at.iter_mut().rev() {
        *y = y.min(most);
        most = *y - LABEL;
    }
    at
}

fn line(
    out: &mut String,
    series: &Series,
    index: usize,
    px: &dyn Fn(f64) -> f64,
    py: &dyn Fn(f64) -> f64,
) {
    let colour = format!("var(--c{})", index % COLOURS);
    let path: Vec<String> = series
        .points
        .iter()
        .map(|p| format!("{:.1},{:.1}", px(p.x), py(p.y.value)))
        .collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke-width=\"2\" style=\"stroke:{colour}\"/>",
        path.join(" ")
    );
    for p in &series.points {
        let (x, y) = (px(p.x), py(p.y.value));
        if !p.y.is_exact() {
            let _ = write!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" style=\"stroke:{colour}\"/>",
                py(p.y.low),
                py(p.y.high)
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"{}\" style=\"fill:{colour}\"/>",
            marker(index, x, y)
        );
    }
}

/// A shape around a point: circle, square, triangle, diamond, wedge, bar, post,
/// cross.
fn marker(index: usize, x: f64, y: f64) -> String {
    match index % COLOURS {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l4.5 8h-9z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        4 => format!("M{x:.1} {:.1}l4.5 -8h-9z", y + 5.0),
        5 => format!("M{:.1} {:.1}h10v3h-10z", x - 5.0, y - 1.5),
        6 => format!("M{:.1} {:.1}h3v10h-3z", x - 1.5, y - 5.0),
        _ => format!("M{:.1} {:.1}h3v3h3v3h-3v3h-3v-3h-3v-3h3z", x - 1.5, y - 4.5),
    }
}

/// A number with about four significant digits.
pub(super) fn number(v: f64) -> String {
    if !v.is_finite() {
        return if v > 0.0 {
            "infinite".into()
        } else {
            "-".into()
        };
    }
    let digits = match v.abs() {
        a if a >= 1000.0 || a == 0.0 => 0,
        a if a >= 100.0 => 1,
        a if a >= 10.0 => 2,
        a if a >= 0.01 => 4,
        _ => return format!("{v:.1e}"),
    };
    let text = format!("{v:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<Point>) -> Chart {
        Chart {
            title: "a & b".into(),
            description: "rises".into(),
            x: Axis::log("loss"),
            y: Axis::linear("share").from_to(0.0, 1.0),
            series: vec![Series {
                name: "one".into(),
                points,
            }],
        }
    }

    #[test]
    fn points_lie_on_the_axes() {
        let at = |x, y| Point {
            x,
            y: Estimate::exact(y),
        };
        let svg = chart(vec![at(1.0, 0.0), at(10.0, 0.5), at(100.0, 1.0)]).svg("c");
        assert!(
            svg.contains("points=\"64.0,348.0 337.0,194.0 610.0,40.0\""),
            "{svg}"
        );
        assert!(svg.contains("<title id=\"c-title\">a &amp; b</title>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    /// Labels that would collide are moved apart in the order of their lines, and stay in the chart.
    #[test]
    fn labels_stand_apart_and_near_their_lines() {
        assert_eq!(spread(&[50.0, 100.0, 200.0]), [50.0, 100.0, 200.0]);
        assert_eq!(spread(&[100.0, 101.0, 102.0]), [100.0, 116.0, 132.0]);
        let floor = HEIGHT - BOTTOM;
        let low = [floor; 4];
        assert_eq!(
            spread(&low),
            [floor - 48.0, floor - 32.0, floor - 16.0, floor]
        );
    }

    #[test]
    fn odd_numbers_make_no_odd_charts() {
        let y = Estimate {
            value: f64::NAN,
            low: 0.0,
            high: f64::INFINITY,
        };
        for points in [
            vec![],
            vec![Point { x: 0.0, y }],
            vec![Point {
                x: f64::INFINITY,
                y,
            }],
        ] {
            chart(points).table();
        }
        assert!(!chart(vec![]).svg("x").contains("NaN"));
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.5, "0.5"),
            (12.345, "12.35"),
            (33860.0, "33860"),
            (0.00012, "1.2e-4"),
        ];
        for (v, text) in cases {
            assert_eq!(number(v), text);
        }
    }
}
