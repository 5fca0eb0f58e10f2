//! The `brr-gateway` program: options in, a gateway out.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brr_gateway::conversations::Conversations;
use brr_gateway::guard::Guard;
use brr_gateway::policy::{DEFAULT, Policy};
use brr_gateway::receipt::Today;
use brr_gateway::serve::{Gateway, serve};
use brr_gateway::upstream::{Base, Upstream};
use clap::Parser;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Privatizes prompts on their way to a hosted language model, and restores the answers
///
/// Point a client's base URL at the gateway: http://127.0.0.1:8787/v1 for OpenAI's chat completions,
/// http://127.0.0.1:8787 for Anthropic's messages. Its key is passed on, and neither kept nor logged.
/// What cannot be privatized is refused before a byte leaves.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// Allow another address than loopback. Needs a token of 16 characters or more in the environment
    /// variable BRR_GATEWAY_TOKEN, which clients send in the header x-brr-token
    #[arg(long)]
    expose: bool,
    /// Further name or address by which clients call this machine: one that listens on 0.0.0.0 is called by
    /// none but its loopback ones without it. May be given several times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Where requests of OpenAI's interface go, such as https://api.openai.com/v1
    #[arg(long, value_name = "URL", env = "BRR_OPENAI_UPSTREAM")]
    openai: Option<String>,
    /// Where requests of Anthropic's interface go, such as https://api.anthropic.com
    #[arg(long, value_name = "URL", env = "BRR_ANTHROPIC_UPSTREAM")]
    anthropic: Option<String>,
    /// Policy file [default: built in; --print-policy shows it]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Print the policy that is built in, and exit
    #[arg(long)]
    print_policy: bool,
    /// Seconds to wait for a byte of an upstream
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    upstream_patience: u64,
    /// Seconds to wait for a client to send or to take a byte
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    client_patience: u64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.print_policy {
        print!("{DEFAULT}");
        return ExitCode::SUCCESS;
    }
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let gateway = Arc::new(gateway(options)?);
    if let Err(why) = &gateway.privatizer {
        eprintln!("error: {why}: every request will be refused");
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await;
        let listener = listener.map_err(|error| format!("--listen: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        eprintln!(
            "brr-gateway: listening on http://{address}, policy {}",
            gateway.policy.label()
        );
        tokio::select! {
            () = serve(listener, gateway) => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        Ok(())
    })
}

fn gateway(options: &Options) -> Result<Gateway, String> {
    let token = std::env::var("BRR_GATEWAY_TOKEN").ok();
    let guard = Guard::new(
        options.listen,
        options.expose,
        token.as_deref(),
        &options.host,
    )?;
    let base = |option: &str, url: &Option<String>| {
        let parsed = url.as_deref().map(Base::parse).transpose();
        parsed.map_err(|why| format!("{option}: {why}"))
    };
    let bases = [
        base("--openai", &options.openai)?,
        base("--anthropic", &options.anthropic)?,
    ];
    if bases.iter().all(Option::is_none) {
        return Err("there is no upstream: give --openai, --anthropic or both".into());
    }
    let text = match &options.policy {
        None => DEFAULT.to_owned(),
        Some(path) => {
            std::fs::read_to_string(path).map_err(|error| format!("--policy: {}", error.kind()))?
        }
    };
    let policy = Policy::parse(&text).map_err(|why| format!("--policy: {why}"))?;
    let conversations =
        Conversations::new(policy.limits().into()).map_err(|error| error.to_string())?;
    let patience = Duration::from_secs(options.upstream_patience);
    let upstream = Upstream::new(bases, patience).map_err(|error| format!("TLS: {error}"))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Gateway {
        guard,
        privatizer: policy.load(),
        policy,
        conversations,
        upstream,
        today: Today::default(),
        patience: Duration::from_secs(options.client_patience),
        turns: Semaphore::new(cores),
    })
}
