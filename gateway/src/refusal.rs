//! Why a request is not passed on, in the words and in the form of the interface that was called.
//!
//! A message names places by field names that this program knows and by numbers. Nothing that
//! the client or the upstream wrote is repeated in one, not even the name of an unknown field.

use serde_json::{Value, json};

/// The two interfaces that are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/chat/completions`.
    OpenAi,
    /// `POST /v1/messages`.
    Anthropic,
}

impl Api {
    /// Its name in logs and on the page.
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }

    /// Its path, here and at the upstream.
    pub fn path(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1/chat/completions",
            Api::Anthropic => "/v1/messages",
        }
    }
}

/// What kind of refusal it is, from which its status and its type in either interface follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be privatized, or makes no sense.
    Request,
    /// The token of this gateway is missing or wrong.
    Token,
    /// Host, Origin or policy do not allow it.
    Forbidden,
    /// No such path.
    Path,
    /// The client took too long.
    Slow,
    /// The body is too long.
    Length,
    /// The gateway itself cannot work: no model, no entropy.
    Unready,
    /// The upstream failed.
    Upstream,
    /// The upstream took too long.
    Stalled,
}

impl Kind {
    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Kind::Request => 400,
            Kind::Token => 401,
            Kind::Forbidden => 403,
            Kind::Path => 404,
            Kind::Slow => 408,
            Kind::Length => 413,
            Kind::Unready => 503,
            Kind::Upstream => 502,
            Kind::Stalled => 504,
        }
    }

    /// The `type` of the error, by the names that the interface has for such things.
    fn label(self, api: Api) -> &'static str {
        match (self, api) {
            (Kind::Token, _) => "authentication_error",
            (Kind::Forbidden, Api::Anthropic) => "permission_error",
            (Kind::Path, Api::Anthropic) => "not_found_error",
            (Kind::Length, Api::Anthropic) => "request_too_large",
            (Kind::Stalled, Api::Anthropic) => "timeout_error",
            (Kind::Unready | Kind::Upstream, Api::Anthropic) => "api_error",
            (Kind::Unready | Kind::Upstream | Kind::Stalled, Api::OpenAi) => "server_error",
            _ => "invalid_request_error",
        }
    }
}

/// A request that is not passed on, or an answer that is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind it is.
    pub kind: Kind,
    /// What happened, where, and the way out.
    pub message: String,
}

/// What a reader returns.
pub type Result<T> = std::result::Result<T, Refusal>;

impl Refusal {
    /// A refusal.
    pub fn new(kind: Kind, message: impl Into<String>) -> Refusal {
        let message = message.into();
        Refusal { kind, message }
    }

    /// What cannot be privatized at this place.
    pub fn at(place: &str, what: &str) -> Refusal {
        let message = format!("{place}: {what}; nothing was sent upstream");
        Refusal::new(Kind::Request, message)
    }

    /// The body of an error as the interface defines it. Within a stream it is an event's data.
    pub fn body(&self, api: Api) -> Value {
        let message = format!("brr-gateway: {}", self.message);
        let label = self.kind.label(api);
        match api {
            Api::OpenAi => json!({"error": {
                "message": message, "type": label, "param": null, "code": "brr_gateway"
            }}),
            Api::Anthropic => json!({"type": "error", "error": {
                "type": label, "message": message
            }}),
        }
    }
}
