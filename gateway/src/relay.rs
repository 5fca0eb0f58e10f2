//! A request of an interface: read, privatized, sent. Its answer is [`crate::reply`]'s.
//!
//! Nothing leaves before the whole body was read and privatized: what is sent upstream is what
//! [`reader::read`] made, and a handful of headers, each checked by a pattern.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use brr::Privatizer;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, Uri};

use crate::conversations::{Key, Opened, Share, Wish};
use crate::fields::Pattern;
use crate::guard::single;
use crate::reader::{self, Prepared};
use crate::receipt::Receipt;
use crate::refusal::{Api, Kind, Refusal, Result};
use crate::reply;
use crate::restore::Originals;
use crate::serve::{Gateway, Reply, refused, seconds};

/// The header that names a conversation.
pub const CONVERSATION: &str = "x-brr-conversation";

/// The header of the receipt.
pub const RECEIPT: &str = "x-brr-receipt";

/// Bytes of a body that is too long which are still read, so that its client comes to read the error.
const LONGEST_REFUSED: usize = 256 << 20;

/// Bytes of the longest body that is privatized where it was read. That takes a few milliseconds at most, and less than
/// to wake another thread for it.
const LONGEST_IN_PLACE: usize = 32 << 10;

/// A request that may leave, and what belongs to it.
pub struct Ready {
    /// What is sent.
    pub prepared: Prepared,
    /// What it spends.
    pub receipt: Receipt,
    /// What its answer is restored by.
    pub originals: Originals,
    /// The headers that go with it.
    pub headers: HeaderMap,
    /// Where it goes.
    pub uri: Uri,
}

/// Answers a request of an interface.
pub async fn relay(
    request: Request<Incoming>,
    api: Api,
    gateway: &Arc<Gateway>,
) -> Response<Reply> {
    let ready = match prepare(request, api, gateway).await {
        Ok(ready) => ready,
        Err(refusal) => {
            let status = refusal.kind.status();
            gateway.today.answered(seconds(), api, status, None);
            log(api, status, "refused");
            return refused(&refusal, api);
        }
    };
    gateway.today.sent(seconds(), api, &ready.receipt);
    let receipt = ready.receipt.clone();
    let mut response = match reply::answer(ready, api, gateway).await {
        Ok(response) => response,
        Err(refusal) => {
            gateway.today.failed(seconds(), api);
            refused(&refusal, api)
        }
    };
    let status = response.status().as_u16();
    gateway
        .today
        .answered(seconds(), api, status, Some(&receipt));
    let receipt = receipt.to_string();
    if let Ok(receipt) = HeaderValue::from_str(&receipt) {
        response.headers_mut().insert(RECEIPT, receipt);
    }
    // Whoever reads the log is woken by it: the answer goes first.
    tokio::spawn(async move { log(api, status, &receipt) });
    response
}

/// A line in the log. It is made of numbers and of names that are not the client's.
pub fn log(api: Api, status: u16, what: &str) {
    // One write, not one for each part of the line. Nobody may be reading any more, which is no reason to stop.
    let line = format!("{} {} {status} {what}\n", seconds(), api.name());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

async fn prepare(request: Request<Incoming>, api: Api, gateway: &Arc<Gateway>) -> Result<Ready> {
    let privatizer = gateway.privatizer()?.clone();
    let uri = gateway.upstream.uri(api)?;
    let given = request.headers();
    let headers = forwarded(given)?;
    if !matches!(request.uri().query(), None | Some("beta=true")) {
        return Err(Refusal::new(Kind::Request, "a query is not passed on"));
    }
    let is_json = single(given, CONTENT_TYPE.as_str())?.is_some_and(|kind| {
        kind.split(';')
            .next()
            .is_some_and(|kind| kind.trim() == "application/json")
    });
    if !is_json || given.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::new(
            Kind::Request,
            "the body has to be application/json, not compressed",
        ));
    }
    let key = conversation(given, gateway)?;
    let limit = gateway.policy.limits().body;
    let body = body(request.into_body(), limit, gateway.patience).await?;
    let turn = gateway.turns.acquire().await;
    let work = gateway.clone();
    let long = body.len() > LONGEST_IN_PLACE;
    let work = move || privatize(api, &body, key, &work, &privatizer);
    let done = match long {
        true => tokio::task::spawn_blocking(work).await.ok(),
        false => catch_unwind(AssertUnwindSafe(work)).ok(),
    };
    drop(turn);
    let (prepared, receipt, originals) = done.unwrap_or_else(|| {
        Err(Refusal::new(
            Kind::Unready,
            "a fault in brr-gateway; nothing was sent upstream",
        ))
    })?;
    Ok(Ready {
        prepared,
        receipt,
        originals,
        headers,
        uri,
    })
}

/// Privatizes a request in the session of its conversation, which is kept if nothing is refused.
fn privatize(
    api: Api,
    body: &[u8],
    key: Option<Key>,
    gateway: &Gateway,
    privatizer: &Arc<Privatizer>,
) -> Result<(Prepared, Receipt, Originals)> {
    loop {
        let opened = gateway.conversations.open(key, privatizer, Instant::now());
        let opened = opened.map_err(|error| {
            Refusal::new(Kind::Unready, format!("{error}; nothing was sent upstream"))
        })?;
        match privatize_in(&opened, api, body, gateway, privatizer) {
            Ok((prepared, receipt, share)) => {
                let originals = Originals::new(opened.session, prepared.json);
                return Ok((prepared, receipt, originals.with_share(share)));
            }
            Err(Stopped::Refused(refusal)) => return Err(refusal),
            // Another request has begun the conversation. What was drawn here was not sent, and is forgotten.
            Err(Stopped::Late) => {}
        }
    }
}

/// Why a request is not sent as it was privatized.
enum Stopped {
    Refused(Refusal),
    Late,
}

fn privatize_in(
    opened: &Opened,
    api: Api,
    body: &[u8],
    gateway: &Gateway,
    privatizer: &Privatizer,
) -> std::result::Result<(Prepared, Receipt, Share), Stopped> {
    let mut session = opened
        .session
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let before = session.loss();
    // What is refused was not sent. It is refused for what it says, never for what was drawn.
    let (prepared, share) = session.attempt(|session| {
        let prepared = reader::read(api, body, &gateway.policy, session);
        let prepared = prepared.map_err(Stopped::Refused)?;
        match gateway
            .conversations
            .keep(opened, session.bytes(), Instant::now())
        {
            Wish::Granted(share) => Ok((prepared, share)),
            Wish::Late => Err(Stopped::Late),
            Wish::Full => Err(Stopped::Refused(Refusal::new(
                Kind::Unready,
                "conversations and requests take all the memory that limits.memory of the policy allows; \
                 nothing was sent upstream; try again later, or begin another conversation",
            ))),
        }
    })?;
    let receipt = Receipt {
        words: prepared.words,
        loss: session.loss() - before,
        session_loss: session.loss(),
        collisions: session.collisions(),
        conversation: opened.conversation,
        mechanism: privatizer.mechanism().name(),
        policy: gateway.policy.label(),
        model: privatizer.model().identity().to_string(),
    };
    Ok((prepared, receipt, share))
}

/// What the conversation of a request is found by: its credential and its name.
fn conversation(headers: &HeaderMap, gateway: &Gateway) -> Result<Option<Key>> {
    let credential = [
        single(headers, "authorization")?,
        single(headers, "x-api-key")?,
    ];
    let credential = credential.map(Option::unwrap_or_default).join("\n");
    let name = single(headers, CONVERSATION)?;
    if let Some(name) = name {
        if !Pattern::Model.fits(name) {
            let message = format!("{CONVERSATION} has to be 1 to 128 of A-Z a-z 0-9 . _ : / @ -");
            return Err(Refusal::new(Kind::Request, message));
        }
        if credential == "\n" {
            let message =
                format!("{CONVERSATION} needs a credential: anybody could name a conversation");
            return Err(Refusal::new(Kind::Request, message));
        }
    }
    let conversations = &gateway.conversations;
    Ok(name.map(|name| conversations.key(credential.as_bytes(), name.as_bytes())))
}

/// The headers that go upstream.
fn forwarded(given: &HeaderMap) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, marks, most) in [
        ("authorization", "._~+/=- ", 4096),
        ("x-api-key", "._~+/=-", 4096),
        ("anthropic-version", "-", 16),
        // Names, by the pattern of names.
        ("anthropic-beta", "-.,_ ", 512),
        ("openai-organization", "-_", 64),
        ("openai-project", "-_", 64),
    ] {
        if let Some(value) = single(given, name)? {
            let fits = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
            let value = HeaderValue::from_str(value).ok();
            let names = |v: &str| v.split(',').all(|name| Pattern::Name.fits(name.trim()));
            let fits = |v: &str| v.chars().all(fits) && (name != "anthropic-beta" || names(v));
            let value = value.filter(|v| v.len() <= most && v.to_str().is_ok_and(fits));
            let Some(mut value) = value else {
                return Err(Refusal::new(
                    Kind::Request,
                    format!("the header {name} does not have the form of one"),
                ));
            };
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    Ok(headers)
}

/// A whole body, if it is not too long and does not take too long.
async fn body(mut body: Incoming, limit: usize, patience: Duration) -> Result<Vec<u8>> {
    let declared = body.size_hint().lower();
    let begun = Instant::now();
    let (mut bytes, mut length) = (Vec::new(), 0);
    loop {
        // A byte now and then is not enough.
        let left = (patience * 10).saturating_sub(begun.elapsed());
        let frame = match tokio::time::timeout(patience.min(left), body.frame()).await {
            Err(_) => {
                return Err(Refusal::new(
                    Kind::Slow,
                    "the body did not come in time; nothing was sent upstream",
                ));
            }
            Ok(None) => break,
            Ok(Some(Err(_))) => {
                return Err(Refusal::new(
                    Kind::Request,
                    "the body broke off; nothing was sent upstream",
                ));
            }
            Ok(Some(Ok(frame))) => frame,
        };
        let Some(data) = frame.data_ref() else {
            continue;
        };
        length += data.len();
        if length <= limit && declared <= limit as u64 {
            bytes.extend_from_slice(data);
        } else if length > LONGEST_REFUSED {
            break;
        } else {
            bytes = Vec::new();
        }
    }
    match length <= limit {
        true => Ok(bytes),
        false => Err(Refusal::new(
            Kind::Length,
            format!(
                "the body has more than {limit} bytes (limits.body of the policy); nothing was sent upstream"
            ),
        )),
    }
}
