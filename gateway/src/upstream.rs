//! Where privatized requests go: over TLS, or in the clear to this very machine.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::refusal::{Api, Kind, Refusal, Result};

/// Time to make a connection.
const CONNECT: Duration = Duration::from_secs(20);

/// Time for which a connection without a request is kept.
const IDLE: Duration = Duration::from_secs(30);

/// The base of an upstream's URLs, without the version that both interfaces' paths begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base(String);

impl Base {
    /// Reads a base URL, with or without `/v1`. Plain HTTP is for loopback alone.
    pub fn parse(url: &str) -> std::result::Result<Base, String> {
        let wrong =
            || "an upstream's URL is https://HOST[:PORT][/PATH], or http:// on loopback".to_owned();
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong());
        };
        if uri.query().is_some() || authority.as_str().contains('@') {
            return Err(wrong());
        }
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        let ip = host.parse::<std::net::IpAddr>();
        let (host, loopback) = match ip {
            Ok(ip) => (authority.host().to_owned(), ip.is_loopback()),
            // Not looked up: whatever the system's tables say, it is this machine.
            Err(_) if host == "localhost" => ("127.0.0.1".to_owned(), true),
            Err(_) => (host.to_owned(), false),
        };
        let (host, port) = match scheme {
            "https" => (
                authority.host().to_owned(),
                authority.port_u16().unwrap_or(443),
            ),
            "http" if loopback => (host, authority.port_u16().unwrap_or(80)),
            "http" => return Err("an upstream that is not on loopback needs https://".into()),
            _ => return Err(wrong()),
        };
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").unwrap_or(path);
        Ok(Base(format!("{scheme}://{host}:{port}{path}")))
    }

    fn is_tls(&self) -> bool {
        self.0.starts_with("https")
    }
}

/// Sends requests to the upstreams.
pub struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    bases: [Option<Base>; 2],
    patience: Duration,
}

impl Upstream {
    /// Upstreams for OpenAI's and Anthropic's interfaces, and how long to wait for a byte of theirs.
    /// Certificates are checked by the roots of the operating system.
    pub fn new(bases: [Option<Base>; 2], patience: Duration) -> std::io::Result<Upstream> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_connect_timeout(Some(CONNECT));
        http.set_nodelay(true);
        let builder = HttpsConnectorBuilder::new();
        let builder = match bases.iter().flatten().any(Base::is_tls) {
            true => builder.with_native_roots()?,
            false => builder.with_tls_config(
                rustls::ClientConfig::builder()
                    .with_root_certificates(rustls::RootCertStore::empty())
                    .with_no_client_auth(),
            ),
        };
        let connector = builder.https_or_http().enable_http1().wrap_connector(http);
        let mut client = Client::builder(TokioExecutor::new());
        client.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        Ok(Upstream {
            client: client.build(connector),
            bases,
            patience,
        })
    }

    /// How long to wait for a byte.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Where requests of an interface go.
    pub fn uri(&self, api: Api) -> Result<Uri> {
        let base = self.bases[api as usize].as_ref();
        let uri = base.and_then(|Base(base)| format!("{base}{}", api.path()).parse().ok());
        uri.ok_or_else(|| {
            Refusal::new(
                Kind::Path,
                "this gateway has no upstream for this interface",
            )
        })
    }

    /// Sends a request; the answer as soon as its headers are there.
    pub async fn send(
        &self,
        uri: Uri,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Incoming>> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        match tokio::time::timeout(self.patience, self.client.request(request)).await {
            Err(_) => Err(Refusal::new(
                Kind::Stalled,
                "the upstream did not answer in time",
            )),
            Ok(Err(error)) if error.is_connect() => Err(Refusal::new(
                Kind::Upstream,
                "the upstream cannot be reached, or its certificate is not valid",
            )),
            Ok(Err(_)) => Err(Refusal::new(
                Kind::Upstream,
                "the connection to the upstream broke",
            )),
            Ok(Ok(response)) => Ok(response),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_goes_to_loopback_alone() {
        for (url, base) in [
            ("https://api.openai.com/v1", "https://api.openai.com:443"),
            ("https://api.anthropic.com", "https://api.anthropic.com:443"),
            ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434"),
            ("http://localhost:80/a/v1", "http://127.0.0.1:80/a"),
            ("http://[::1]:8000", "http://[::1]:8000"),
        ] {
            assert_eq!(Base::parse(url).unwrap().0, base);
        }
        for url in [
            "http://api.openai.com/v1",
            "http://192.168.0.2",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example",
            "https://user:pass@host",
            "https://host/?key=1",
            "ftp://127.0.0.1",
            "127.0.0.1:80",
            "/v1",
            "",
        ] {
            assert!(Base::parse(url).is_err(), "{url}");
        }
    }
}
