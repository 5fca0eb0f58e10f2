//! The page on loopback: what was spent today, and a box to try the policy. Nothing is kept of what
//! is typed there, and nothing on the page comes from elsewhere.

use std::sync::Arc;

use brr::Session;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response};
use serde_json::{Value, json};

use crate::guard::single;
use crate::refusal::{Api, Kind, Refusal, Result};
use crate::serve::{Gateway, Reply, json as json_reply, refused, seconds, whole};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the page is made of. There is nothing secret in it: what was spent, and the box, take the token.
pub const FILES: [&str; 3] = ["/", "/page.js", "/page.css"];

/// Bytes of the longest text to try.
const LONGEST: usize = 64 << 10;

/// Time to send it.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// The page or a part of it, if this is what was asked for.
pub async fn show(request: Request<Incoming>, gateway: &Arc<Gateway>) -> Option<Response<Reply>> {
    let (method, path) = (request.method().clone(), request.uri().path());
    Some(match (method, path) {
        (Method::GET, "/") => file(
            "text/html; charset=utf-8",
            include_str!("../page/index.html"),
        ),
        (Method::GET, "/page.js") => file(
            "text/javascript; charset=utf-8",
            include_str!("../page/page.js"),
        ),
        (Method::GET, "/page.css") => {
            file("text/css; charset=utf-8", include_str!("../page/page.css"))
        }
        (Method::GET, "/today") => today(gateway),
        (Method::POST, "/try") => match tried(request, gateway).await {
            Ok(shown) => json_reply(200, shown.to_string()),
            Err(refusal) => refused(&refusal, Api::OpenAi),
        },
        _ => return None,
    })
}

fn file(kind: &'static str, text: &'static str) -> Response<Reply> {
    let mut response = Response::new(whole(text));
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

fn today(gateway: &Gateway) -> Response<Reply> {
    let about = match &gateway.privatizer {
        Err(why) => json!({"fault": why}),
        Ok(privatizer) => json!({
            "mechanism": privatizer.mechanism().name(),
            "loss": privatizer.guarantee().worst_token(),
            "model": privatizer.model().identity().to_string(),
            "adjacency": Session::new(privatizer.clone()).map(|s| s.adjacency().to_string()).unwrap_or_default(),
        }),
    };
    let (sums, last) = gateway.today.json(seconds());
    let shown = json!({
        "policy": gateway.policy.label(),
        "privatizer": about,
        "conversations": gateway.conversations.len(),
        "today": sums,
        "last": last,
    });
    json_reply(200, shown.to_string())
}

/// A text under the policy, in a session that ends here.
async fn tried(request: Request<Incoming>, gateway: &Arc<Gateway>) -> Result<Value> {
    let privatizer = gateway.privatizer()?.clone();
    let wrong = || {
        Refusal::new(
            Kind::Request,
            "send {\"text\": \"...\"} as application/json, at most 64 kB",
        )
    };
    if single(request.headers(), CONTENT_TYPE.as_str())? != Some("application/json") {
        return Err(wrong());
    }
    let body = Limited::new(request.into_body(), LONGEST).collect();
    let body = tokio::time::timeout(PATIENCE, body)
        .await
        .map_err(|_| wrong())?;
    let body: Value =
        serde_json::from_slice(&body.map_err(|_| wrong())?.to_bytes()).map_err(|_| wrong())?;
    let text = body["text"].as_str().ok_or_else(wrong)?.to_owned();
    let turn = gateway.turns.acquire().await;
    let work = move || -> brr::Result<Value> {
        let mut session = Session::new(privatizer)?;
        let private = session.privatize(&text)?;
        Ok(
            json!({"text": private.text, "words": private.private(), "loss": session.loss(),
                  "distinct": session.words(), "collisions": session.collisions()}),
        )
    };
    let done = tokio::task::spawn_blocking(work).await;
    drop(turn);
    let unready = |why: String| Refusal::new(Kind::Unready, why);
    let done = done.map_err(|_| unready("a fault in brr-gateway".into()))?;
    done.map_err(|error| unready(error.to_string()))
}
