//! Solves the channel's linear system: which counts of words lead to these counts of outputs?
//!
//! Outputs have the means sum over w of f(w) Pr[y | w]. The counts f that lead to given
//! outputs are found by the stabilized biconjugate gradient method (van der Vorst 1992), as
//! not every channel is symmetric, preconditioned by the probability that each word stays. Several
//! right-hand sides share the passes over the rows, which take most of the time.

use crate::channel::WordChannel;

/// Steps after which a system is given up; two passes over the rows each.
const MOST: usize = 60;

/// A solution, and whether it is one.
pub(crate) struct Solutions {
    pub(crate) counts: Vec<Vec<f64>>,
    pub(crate) converged: bool,
}

/// One right-hand side on its way.
struct System {
    x: Vec<f64>,
    r: Vec<f64>,
    /// The first residual: what later ones are held against.
    shadow: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    rho: f64,
    alpha: f64,
    omega: f64,
    enough: f64,
    /// The shortest residual so far, and what had it.
    best: (f64, Vec<f64>),
}

impl System {
    /// From x = 0, until the residual is at most `enough` long.
    fn new(outputs: Vec<f64>, enough: f64) -> System {
        let n = outputs.len();
        System {
            best: (f64::INFINITY, vec![0.0; n]),
            x: vec![0.0; n],
            shadow: outputs.clone(),
            r: outputs,
            p: vec![0.0; n],
            v: vec![0.0; n],
            rho: 1.0,
            alpha: 1.0,
            omega: 1.0,
            enough,
        }
    }

    fn is_solved(&self) -> bool {
        self.best.0 <= self.enough
    }

    /// The next direction, divided by the diagonal.
    fn direction(&mut self, diagonal: &[f64]) -> Vec<f64> {
        let rho = dot(&self.shadow, &self.r);
        let beta = rho / self.rho * self.alpha / self.omega;
        // What is held against the first residual has died away: begin again from here.
        let beta = if beta.is_finite() { beta } else { 0.0 };
        self.rho = rho;
        for ((p, r), v) in self.p.iter_mut().zip(&self.r).zip(&self.v) {
            *p = r + beta * (*p - self.omega * v);
        }
        over(&self.p, diagonal)
    }

    /// Half a step: `image` is what the direction leads to.
    fn first_half(&mut self, direction: &[f64], image: Vec<f64>, diagonal: &[f64]) -> Vec<f64> {
        self.alpha = finite(self.rho / dot(&self.shadow, &image));
        self.v = image;
        add(&mut self.x, self.alpha, direction);
        add(&mut self.r, -self.alpha, &self.v);
        over(&self.r, diagonal)
    }

    /// The other half.
    fn second_half(&mut self, direction: &[f64], image: &[f64]) {
        self.omega = finite(dot(image, &self.r) / dot(image, image));
        add(&mut self.x, self.omega, direction);
        add(&mut self.r, -self.omega, image);
        let length = dot(&self.r, &self.r).sqrt();
        if length < self.best.0 {
            self.best = (length, self.x.clone());
        }
    }
}

/// Solves for each pair of outputs and the length of residual that will do.
pub(crate) fn solve(
    channel: &WordChannel<'_>,
    diagonal: &[f64],
    outputs: Vec<(Vec<f64>, f64)>,
    on_pass: &dyn Fn(),
) -> Solutions {
    let mut systems: Vec<System> = outputs
        .into_iter()
        .map(|(outputs, enough)| System::new(outputs, enough))
        .collect();
    let pass = |directions: &[Vec<f64>]| {
        on_pass();
        let slices: Vec<&[f64]> = directions.iter().map(Vec::as_slice).collect();
        channel.outputs(&slices)
    };
    for _ in 0..MOST {
        let mut open: Vec<&mut System> = systems.iter_mut().filter(|s| !s.is_solved()).collect();
        if open.is_empty() {
            break;
        }
        let directions: Vec<_> = open.iter_mut().map(|s| s.direction(diagonal)).collect();
        let images = pass(&directions).into_iter();
        let halves = open.iter_mut().zip(&directions).zip(images);
        let directions: Vec<_> = halves
            .map(|((s, direction), image)| s.first_half(direction, image, diagonal))
            .collect();
        let images = pass(&directions);
        for ((s, direction), image) in open.iter_mut().zip(&directions).zip(&images) {
            s.second_half(direction, image);
        }
    }
    Solutions {
        converged: systems.iter().all(System::is_solved),
        counts: systems.into_iter().map(|s| s.best.1).collect(),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(x: &mut [f64], factor: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
}

fn over(x: &[f64], diagonal: &[f64]) -> Vec<f64> {
    x.iter().zip(diagonal).map(|(x, d)| x / d).collect()
}

fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}
