//! An upstream on loopback that streams, and clients that ask it through what stands in between: the load of
//! `experiments/gateway`.
//!
//!     load upstream DELAY PIECES INTERVAL           milliseconds to the first piece and between pieces
//!     load measure ADDRESS STREAMS REQUESTS WORDS NAMES SEED PAUSE
//!
//! `upstream` prints its address and serves until it is killed; it says back what it was told last. `measure` keeps
//! so many streams open until so many requests were answered, and prints one line of JSON: times to the first
//! byte of each answer in microseconds, how many requests failed, and how many answers did not come to their end. A
//! prompt has so many words of the built-in model by Zipf's law, one in thirty unknown; with NAMES, every second
//! request names one of so many conversations. Before each request a stream waits for a random time of at most PAUSE
//! milliseconds; with 0, all streams ask at once.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const PATH: &str = "/v1/chat/completions";

/// A number of a stream that begins at `seed`, below 2^53 (splitmix64).
fn next(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Prompts, each from a number of its own.
struct Prompts {
    words: Vec<String>,
    /// Sums of the words' shares.
    shares: Vec<f64>,
    length: usize,
    names: u64,
    seed: u64,
    /// Milliseconds.
    pause: f64,
}

impl Prompts {
    fn new(length: usize, names: u64, seed: u64, pause: u64) -> Prompts {
        let model = brr_english::model().expect("the built-in model");
        let vocabulary = model.vocabulary();
        let words: Vec<String> = (0..vocabulary.len())
            .map(|id| vocabulary.word(id as u32).to_owned())
            .collect();
        let mut sum = 0.0;
        let shares = (0..words.len()).map(|rank| {
            sum += 1.0 / (rank as f64 + 2.7);
            sum
        });
        Prompts {
            shares: shares.collect(),
            words,
            length,
            names,
            seed,
            pause: pause as f64,
        }
    }

    fn pause(&self, number: u64) -> Duration {
        let share = next(&mut (self.seed << 32 | number | 1 << 31));
        Duration::from_secs_f64(share * self.pause / 1000.0)
    }

    fn body(&self, number: u64) -> String {
        let mut seed = self.seed << 32 | number;
        let total = self.shares[self.shares.len() - 1];
        let mut text = String::new();
        for _ in 0..self.length {
            let at = next(&mut seed) * total;
            let rank = self.shares.partition_point(|&sum| sum < at);
            text.push_str(&self.words[rank.min(self.words.len() - 1)]);
            if next(&mut seed) < 1.0 / 30.0 {
                text.push_str(&format!("zq{}", (next(&mut seed) * 1e6) as u64));
            }
            text.push_str(if next(&mut seed) < 0.1 { ". " } else { " " });
        }
        let messages = json!([{"role": "user", "content": text}]);
        json!({"model": "load", "stream": true, "messages": messages}).to_string()
    }

    fn name(&self, number: u64) -> Option<String> {
        let named = self.names > 0 && number.is_multiple_of(2);
        named.then(|| format!("conversation-{}", number / 2 % self.names))
    }
}

/// A body that comes through a channel.
struct Streamed(mpsc::Receiver<Bytes>);

impl Body for Streamed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = self.0.poll_recv(cx);
        polled.map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}

#[derive(Clone, Copy)]
struct Pace {
    delay: Duration,
    pieces: usize,
    interval: Duration,
}

async fn answer(
    request: Request<Incoming>,
    pace: Pace,
) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let body = request.into_body().collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let said = asked["messages"][0]["content"].as_str().unwrap_or_default();
    let words: Vec<&str> = said.split(' ').take(5 * pace.pieces).collect();
    let mut events: Vec<Bytes> = words
        .chunks(5)
        .map(|words| {
            let delta = json!({"content": words.join(" ") + " "});
            let choices = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
            format!("data: {}\n\n", json!({"id": "x", "choices": choices})).into()
        })
        .collect();
    events.push("data: [DONE]\n\n".into());
    let (sender, receiver) = mpsc::channel(1);
    tokio::time::sleep(pace.delay).await;
    tokio::spawn(async move {
        for event in events {
            if sender.send(event).await.is_err() {
                return;
            }
            if !pace.interval.is_zero() {
                tokio::time::sleep(pace.interval).await;
            }
        }
    });
    let mut response = Response::new(Streamed(receiver).boxed_unsync());
    let kind = "text/event-stream".parse().expect("a header's value");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

async fn upstream(pace: Pace) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service =
            service_fn(
                move |request| async move { Ok::<_, Infallible>(answer(request, pace).await) },
            );
        tokio::spawn(async move {
            let served = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            let _ = served.await;
        });
    }
}

/// What came of the requests of one stream.
#[derive(Default)]
struct Told {
    micros: Vec<u64>,
    failed: u64,
    broken: u64,
}

async fn ask(
    client: &Client<HttpConnector, Full<Bytes>>,
    to: &str,
    prompts: &Prompts,
    number: u64,
    told: &mut Told,
) {
    let request = Request::post(format!("http://{to}{PATH}"))
        .header("host", to)
        .header("authorization", "Bearer sk-load")
        .header(CONTENT_TYPE, "application/json");
    let request = match prompts.name(number) {
        Some(name) => request.header("x-brr-conversation", name),
        None => request,
    };
    let request = request.body(Full::new(Bytes::from(prompts.body(number))));
    let begun = Instant::now();
    let answer = client.request(request.expect("a request")).await;
    let Ok(answer) = answer.map(|answer| (answer.status(), answer.into_body())) else {
        told.failed += 1;
        return;
    };
    let (status, mut body) = answer;
    let (mut first, mut last) = (None, Vec::new());
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data() {
            first.get_or_insert_with(|| begun.elapsed());
            last = data.to_vec();
        }
    }
    match first.filter(|_| status.is_success()) {
        None => told.failed += 1,
        Some(first) => told.micros.push(first.as_micros() as u64),
    }
    told.broken += u64::from(!last.ends_with(b"data: [DONE]\n\n"));
}

async fn measure(to: String, streams: u64, requests: u64, prompts: Prompts) {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new());
    let client = client.build(http);
    let (prompts, taken) = (Arc::new(prompts), Arc::new(AtomicU64::new(0)));
    let begun = Instant::now();
    let tasks: Vec<_> = (0..streams)
        .map(|_| {
            let (to, client) = (to.clone(), client.clone());
            let (prompts, taken) = (prompts.clone(), taken.clone());
            tokio::spawn(async move {
                let mut told = Told::default();
                loop {
                    let number = taken.fetch_add(1, Ordering::Relaxed);
                    if number >= requests {
                        return told;
                    }
                    tokio::time::sleep(prompts.pause(number)).await;
                    ask(&client, &to, &prompts, number, &mut told).await;
                }
            })
        })
        .collect();
    let mut all = Told::default();
    for task in tasks {
        let told = task.await.expect("a stream");
        all.micros.extend(told.micros);
        all.failed += told.failed;
        all.broken += told.broken;
    }
    all.micros.sort_unstable();
    println!(
        "{}",
        json!({"micros": all.micros, "failed": all.failed, "broken": all.broken, "seconds": begun.elapsed().as_secs_f64()})
    );
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<u64>().expect("a number");
    match arguments.first().map(String::as_str) {
        Some("upstream") => {
            let pace = Pace {
                delay: Duration::from_millis(number(1)),
                pieces: number(2) as usize,
                interval: Duration::from_millis(number(3)),
            };
            upstream(pace).await
        }
        Some("measure") => {
            let prompts = Prompts::new(number(4) as usize, number(5), number(6), number(7));
            measure(arguments[1].clone(), number(2), number(3), prompts).await;
            Ok(())
        }
        _ => panic!(
            "load upstream DELAY PIECES INTERVAL, or load measure ADDRESS STREAMS REQUESTS WORDS NAMES SEED PAUSE"
        ),
    }
}
