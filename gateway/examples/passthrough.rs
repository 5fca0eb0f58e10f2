//! The plainest proxy on the gateway's own stack, which reads nothing and changes nothing: what
//! `experiments/gateway` compares the gateway with. For loopback alone.
//!
//!     passthrough UPSTREAM        such as 127.0.0.1:4000; prints its own address

use std::convert::Infallible;
use std::io::Write;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpListener;

type Upstream = Client<HttpConnector, Incoming>;
type Reply = UnsyncBoxBody<Bytes, hyper::Error>;

async fn forward(mut request: Request<Incoming>, client: Upstream, to: String) -> Response<Reply> {
    let path = request.uri().path();
    let uri: Option<Uri> = format!("http://{to}{path}").parse().ok();
    if let Some(uri) = uri {
        *request.uri_mut() = uri;
        if let Ok(response) = client.request(request).await {
            return response.map(BodyExt::boxed_unsync);
        }
    }
    let nothing = Empty::new().map_err(|never| match never {});
    let mut failed = Response::new(nothing.boxed_unsync());
    *failed.status_mut() = StatusCode::BAD_GATEWAY;
    failed
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let to = std::env::args().nth(1).expect("passthrough UPSTREAM");
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new());
    let client: Upstream = client.build(http);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, to) = (client.clone(), to.clone());
        let service = service_fn(move |request| {
            let answer = forward(request, client.clone(), to.clone());
            async move { Ok::<_, Infallible>(answer.await) }
        });
        tokio::spawn(async move {
            let served = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            // A client that went away: there is nobody to tell.
            let _ = served.await;
        });
    }
}
