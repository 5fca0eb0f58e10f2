//! Connections, and which request goes where.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use brr::Privatizer;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

use crate::conversations::Conversations;
use crate::guard::Guard;
use crate::policy::Policy;
use crate::receipt::Today;
use crate::refusal::{Api, Kind, Refusal, Result};
use crate::upstream::Upstream;
use crate::{page, relay};

/// What answers are made of.
pub type Reply = UnsyncBoxBody<Bytes, Infallible>;

/// Connections at a time; others wait.
const CONNECTIONS: usize = 1024;

/// Everything that requests share.
pub struct Gateway {
    /// Who may ask.
    pub guard: Guard,
    /// What is private.
    pub policy: Policy,
    /// What privatizes, or why there is nothing that does.
    pub privatizer: std::result::Result<Arc<Privatizer>, String>,
    /// Sessions.
    pub conversations: Conversations,
    /// Where requests go.
    pub upstream: Upstream,
    /// What was spent today.
    pub today: Today,
    /// How long to wait for a client to send or to take a byte.
    pub patience: Duration,
    /// Requests that are privatized at a time: as many as there are cores.
    pub turns: Semaphore,
}

impl Gateway {
    /// What privatizes.
    pub fn privatizer(&self) -> Result<&Arc<Privatizer>> {
        self.privatizer.as_ref().map_err(|why| {
            Refusal::new(
                Kind::Unready,
                format!("nothing can be privatized: {why}; nothing was sent upstream"),
            )
        })
    }
}

/// Seconds since 1970.
pub fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Serves until the task is dropped.
pub async fn serve(listener: TcpListener, gateway: Arc<Gateway>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let sweeping = gateway.clone();
    let sweeper = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(30)).await;
            sweeping.conversations.sweep(Instant::now());
        }
    });
    let _stops_with_this = AbortOnDrop(sweeper);
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of file descriptors, most likely: connections that end give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let gateway = gateway.clone();
        tokio::spawn(async move {
            connection(stream, peer, gateway).await;
            drop(place);
        });
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, gateway: Arc<Gateway>) {
    let patience = gateway.patience;
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let gateway = gateway.clone();
        async move { Ok::<_, Infallible>(route(request, peer, &gateway).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(Patient::new(stream, patience)), service);
    // A client that went away or sent no HTTP: there is nobody to tell.
    let _ = served.await;
}

async fn route(
    request: Request<Incoming>,
    peer: SocketAddr,
    gateway: &Arc<Gateway>,
) -> Response<Reply> {
    let path = request.uri().path().to_owned();
    let api = match path == Api::Anthropic.path() {
        true => Api::Anthropic,
        false => Api::OpenAi,
    };
    let own = request.uri().authority().is_none();
    let local = peer.ip().to_canonical().is_loopback();
    let is_page = local && request.method() == Method::GET && page::FILES.contains(&&*path);
    let let_in = match own {
        true if is_page => gateway.guard.check_page(request.headers()),
        true => gateway.guard.check(request.headers()),
        false => Err(Refusal::new(
            Kind::Forbidden,
            "this is no proxy: ask for paths, not for URLs",
        )),
    };
    if let Err(refusal) = let_in {
        return refused(&refusal, api);
    }
    if request.method() == Method::POST && path == api.path() {
        return relay::relay(request, api, gateway).await;
    }
    if local && let Some(shown) = page::show(request, gateway).await {
        return shown;
    }
    let message = "only POST /v1/chat/completions and POST /v1/messages are passed on";
    refused(&Refusal::new(Kind::Path, message), api)
}

/// An error in the form of the interface.
pub fn refused(refusal: &Refusal, api: Api) -> Response<Reply> {
    let mut response = json(refusal.kind.status(), refusal.body(api).to_string());
    // Clients repeat requests by themselves, which would be another release.
    let headers = response.headers_mut();
    headers.insert("x-should-retry", HeaderValue::from_static("false"));
    if matches!(refusal.kind, Kind::Length | Kind::Slow) {
        headers.insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// JSON, which no browser takes for a page.
pub fn json(status: u16, body: impl Into<Bytes>) -> Response<Reply> {
    let mut response = Response::new(whole(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// A body that is there.
pub fn whole(body: impl Into<Bytes>) -> Reply {
    Full::new(body.into()).boxed_unsync()
}

/// A connection whose client has to take what is sent to it: if it does not for a while, the
/// connection ends, and with it what waits upstream.
struct Patient {
    stream: TcpStream,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Patient {
        Patient {
            stream,
            patience,
            waiting: None,
        }
    }

    /// What came of a write, or an error if it has been waited for too long.
    fn timed<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waiting = None;
            return done;
        }
        let patience = self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        waiting
            .as_mut()
            .poll(cx)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
