//! The answer to a request that was sent: restored, whole or as it streams in, up to its end or an error.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::answer::{self, Stream};
use crate::guard::single;
use crate::refusal::{Api, Kind, Refusal, Result};
use crate::relay::{Ready, log};
use crate::restore::Originals;
use crate::serve::{Gateway, Reply, json, seconds};
use crate::sse::{Broken, Event, Events};

/// Bytes of the longest answer.
const LONGEST_ANSWER: usize = 64 << 20;

/// Sends a request, and restores what comes back.
pub async fn answer(ready: Ready, api: Api, gateway: &Arc<Gateway>) -> Result<Response<Reply>> {
    let Ready {
        prepared,
        originals,
        headers,
        uri,
        ..
    } = ready;
    let came = gateway.upstream.send(uri, headers, prepared.body).await?;
    let (parts, body) = came.into_parts();
    let encoding = parts.headers.get(CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        let message = "the upstream's answer is compressed, which was not asked for";
        return Err(Refusal::new(Kind::Upstream, message));
    }
    let kind = single(&parts.headers, CONTENT_TYPE.as_str())?.unwrap_or_default();
    let streams = prepared.stream && kind.starts_with("text/event-stream");
    let status = parts.status.as_u16();
    let mut response = match streams && parts.status.is_success() {
        true => streamed(body, status, api, originals, gateway),
        false => whole(body, status, api, &originals, gateway).await?,
    };
    let headers = response.headers_mut();
    pass_on(&parts.headers, headers);
    if !parts.status.is_success() {
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
    }
    Ok(response)
}

fn streamed(
    body: Incoming,
    status: u16,
    api: Api,
    originals: Originals,
    gateway: &Arc<Gateway>,
) -> Response<Reply> {
    let (sender, receiver) = mpsc::channel(16);
    let gateway = gateway.clone();
    let pump = async move { pump(body, api, originals, sender, &gateway).await };
    let mut response = json(status, Bytes::new());
    let relayed = Relayed {
        pump: Some(Box::pin(pump)),
        receiver,
    };
    *response.body_mut() = relayed.boxed_unsync();
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer that comes whole, or an error of the upstream's, which has nothing to restore.
async fn whole(
    body: Incoming,
    status: u16,
    api: Api,
    originals: &Originals,
    gateway: &Gateway,
) -> Result<Response<Reply>> {
    let bytes = collect(body, gateway.upstream.patience()).await?;
    let mut answer: Value = serde_json::from_slice(&bytes).map_err(|_| {
        let message = format!("the upstream answered {status} with something that is not JSON");
        Refusal::new(Kind::Upstream, message)
    })?;
    if status < 300 {
        let restored = answer::whole(api, &mut answer, originals);
        log(api, status, &format!("restored={restored}"));
    }
    Ok(json(status, answer.to_string()))
}

/// The upstream's headers that clients make use of.
fn pass_on(from: &HeaderMap, to: &mut HeaderMap) {
    let plain = [
        "request-id",
        "x-request-id",
        "retry-after",
        "retry-after-ms",
        "openai-processing-ms",
    ];
    for (name, value) in from {
        let name_of = name.as_str();
        let limits =
            name_of.starts_with("x-ratelimit-") || name_of.starts_with("anthropic-ratelimit-");
        if limits || plain.contains(&name_of) {
            to.insert(name.clone(), value.clone());
        }
    }
}

/// The next bytes of an answer.
async fn next(body: &mut Incoming, patience: Duration) -> Result<Option<Bytes>> {
    loop {
        match tokio::time::timeout(patience, body.frame()).await {
            Err(_) => {
                return Err(Refusal::new(
                    Kind::Stalled,
                    "the upstream stopped within its answer",
                ));
            }
            Ok(None) => return Ok(None),
            Ok(Some(Err(_))) => {
                return Err(Refusal::new(
                    Kind::Upstream,
                    "the upstream's answer broke off",
                ));
            }
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

async fn collect(mut body: Incoming, patience: Duration) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(data) = next(&mut body, patience).await? {
        if bytes.len() + data.len() > LONGEST_ANSWER {
            return Err(Refusal::new(
                Kind::Upstream,
                "the upstream's answer is too long",
            ));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Restores a stream into a channel, up to its end, an error, or a client that went away.
async fn pump(
    body: Incoming,
    api: Api,
    originals: Originals,
    sender: mpsc::Sender<Bytes>,
    gateway: &Gateway,
) {
    let mut stream = Stream::new(api, originals);
    let done = restored(body, &mut stream, &sender, gateway.upstream.patience()).await;
    log(api, 200, &format!("restored={}", stream.restored()));
    if let Err(refusal) = done {
        gateway.today.failed(seconds(), api);
        log(api, refusal.kind.status(), "the stream ended in an error");
        let event = Event {
            name: (api == Api::Anthropic).then(|| "error".into()),
            data: refusal.body(api).to_string(),
        };
        let _ = sender.send(event.write().into()).await;
    }
}

async fn restored(
    mut body: Incoming,
    stream: &mut Stream,
    sender: &mpsc::Sender<Bytes>,
    patience: Duration,
) -> Result<()> {
    let (mut events, mut length) = (Events::default(), 0);
    while let Some(data) = next(&mut body, patience).await? {
        length += data.len();
        if length > LONGEST_ANSWER {
            return Err(Refusal::new(
                Kind::Upstream,
                "the upstream's answer is too long",
            ));
        }
        let mut out = String::new();
        let read = events.push(&data).map_err(|broken| {
            let message = match broken {
                Broken::Long => "the upstream's stream has an event that is too long",
                Broken::Encoding => "the upstream's stream is not UTF-8",
            };
            Refusal::new(Kind::Upstream, message)
        })?;
        for event in read {
            stream
                .event(event)?
                .iter()
                .for_each(|event| out.push_str(&event.write()));
        }
        if !out.is_empty() && sender.send(out.into()).await.is_err() {
            return Ok(());
        }
    }
    match stream.is_ended() && !events.is_within() {
        true => Ok(()),
        false => Err(Refusal::new(
            Kind::Upstream,
            "the upstream's stream ended within its answer",
        )),
    }
}

/// A body that comes through a channel, filled by the task that takes from it: none has to be woken for an event.
struct Relayed {
    /// What fills the channel, until it has come to its end.
    pump: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    receiver: mpsc::Receiver<Bytes>,
}

impl Body for Relayed {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Self::Error>>> {
        if let Some(pump) = &mut self.pump
            && pump.as_mut().poll(cx).is_ready()
        {
            self.pump = None;
        }
        self.receiver
            .poll_recv(cx)
            .map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}
