//! Who may ask: the address to listen on, the token, and the checks against web pages.
//!
//! A page in a browser can send requests to loopback, and by changing what its own name resolves to
//! (DNS rebinding) it can even read the answers. Such a request has that name in its `Host`, so only
//! names of this machine are let in; and one from another page has that page in its `Origin`, so only
//! the gateway's own page is. Any other address than loopback takes a token.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use sha2::{Digest, Sha256};

use crate::refusal::{Kind, Refusal, Result};

/// The header that carries the gateway's own token, as `Authorization` is the upstream's.
pub const TOKEN: &str = "x-brr-token";

/// Who may ask.
pub struct Guard {
    /// Names by which this gateway may be called, in lower case.
    hosts: Vec<String>,
    /// The hash of the token, if one is asked for.
    token: Option<[u8; 32]>,
}

impl Guard {
    /// For a gateway that listens on `address`. Another address than loopback needs `exposed` and a
    /// token; `names` are further names of this machine.
    pub fn new(
        address: SocketAddr,
        exposed: bool,
        token: Option<&str>,
        names: &[String],
    ) -> std::result::Result<Guard, String> {
        if token.is_some_and(|token| token.len() < 16) {
            return Err("the token is too short: take 16 characters or more".into());
        }
        let allowed = address.ip().is_loopback() || exposed && token.is_some();
        if !allowed {
            return Err(
                "another address than loopback needs --expose, and a token in BRR_GATEWAY_TOKEN"
                    .into(),
            );
        }
        let mut hosts = vec!["localhost".into(), "127.0.0.1".into(), "[::1]".into()];
        if !address.ip().is_unspecified() {
            hosts.push(match address.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        let token = token.map(|token| Sha256::digest(token).into());
        Ok(Guard { hosts, token })
    }

    /// Lets a request in, or not.
    pub fn check(&self, headers: &HeaderMap) -> Result<()> {
        self.check_page(headers)?;
        match self.token {
            None => Ok(()),
            Some(expected) => {
                let given: [u8; 32] =
                    Sha256::digest(single(headers, TOKEN)?.unwrap_or_default()).into();
                match given == expected {
                    true => Ok(()),
                    false => Err(Refusal::new(
                        Kind::Token,
                        format!("the header {TOKEN} lacks the right token"),
                    )),
                }
            }
        }
    }

    /// Lets a request in for what is no secret, such as the page before it was given the token: a browser cannot send
    /// the header when it opens one.
    pub fn check_page(&self, headers: &HeaderMap) -> Result<()> {
        let host = single(headers, HOST.as_str())?.unwrap_or_default();
        if !self.is_own(host) {
            return Err(Refusal::new(
                Kind::Forbidden,
                "the Host header does not name this gateway: start brr-gateway with --host NAME for each further name \
                 or address by which clients call it",
            ));
        }
        if let Some(origin) = single(headers, ORIGIN.as_str())?
            && !origin
                .strip_prefix("http://")
                .is_some_and(|from| from.eq_ignore_ascii_case(host))
        {
            return Err(Refusal::new(
                Kind::Forbidden,
                "requests of other web pages are refused",
            ));
        }
        if let Some(site) = single(headers, "sec-fetch-site")?
            && !matches!(site, "same-origin" | "none")
        {
            return Err(Refusal::new(
                Kind::Forbidden,
                "requests of other web pages are refused",
            ));
        }
        Ok(())
    }

    /// Whether `name:port` names this gateway. The port does not matter: a tunnel may change it.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty() => {
                name
            }
            _ => host,
        };
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The value of a header that may stand once.
pub fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(HeaderValue::to_str).transpose();
    match (value, values.next()) {
        (Ok(value), None) => Ok(value),
        _ => Err(Refusal::new(
            Kind::Request,
            "a header stands twice or is not ASCII",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(
        address: &str,
        exposed: bool,
        token: Option<&str>,
    ) -> std::result::Result<Guard, String> {
        Guard::new(
            address.parse().unwrap(),
            exposed,
            token,
            &["box.local".into()],
        )
    }

    fn asked(guard: &Guard, headers: &[(&'static str, &str)]) -> Option<Kind> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        guard.check(&map).err().map(|refusal| refusal.kind)
    }

    #[test]
    fn only_this_machine_and_the_own_page() {
        let guard = guard("127.0.0.1:8787", false, None).unwrap();
        for host in [
            "localhost:8787",
            "127.0.0.1:8787",
            "[::1]:1",
            "LOCALHOST",
            "box.local:8787",
        ] {
            assert_eq!(asked(&guard, &[("host", host)]), None, "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8787",
            "localhost.evil.example:8787",
            "localhost:8787@evil",
            "127.0.0.1.nip.io",
        ] {
            assert_eq!(
                asked(&guard, &[("host", host)]),
                Some(Kind::Forbidden),
                "{host}"
            );
        }
        assert_eq!(asked(&guard, &[]), Some(Kind::Forbidden));
        let own = ("host", "localhost:8787");
        assert_eq!(asked(&guard, &[own, own]), Some(Kind::Request));
        assert_eq!(
            asked(&guard, &[own, ("origin", "http://localhost:8787")]),
            None
        );
        for origin in [
            "null",
            "http://localhost:3000",
            "https://localhost:8787",
            "http://evil.example",
        ] {
            assert_eq!(
                asked(&guard, &[own, ("origin", origin)]),
                Some(Kind::Forbidden),
                "{origin}"
            );
        }
        assert_eq!(
            asked(&guard, &[own, ("sec-fetch-site", "cross-site")]),
            Some(Kind::Forbidden)
        );
        assert_eq!(
            asked(&guard, &[own, ("sec-fetch-site", "same-site")]),
            Some(Kind::Forbidden)
        );
    }

    #[test]
    fn other_addresses_take_a_flag_and_a_token() {
        let token = "0123456789abcdef";
        assert!(guard("0.0.0.0:1", false, None).is_err());
        assert!(guard("0.0.0.0:1", true, None).is_err());
        assert!(guard("192.0.2.1:1", false, Some(token)).is_err());
        assert!(guard("192.0.2.1:1", true, Some("short")).is_err());
        let guard = guard("192.0.2.1:1", true, Some(token)).unwrap();
        let own = ("host", "192.0.2.1:1");
        assert_eq!(asked(&guard, &[own]), Some(Kind::Token));
        assert_eq!(
            asked(&guard, &[own, (TOKEN, "0123456789abcdeX")]),
            Some(Kind::Token)
        );
        assert_eq!(asked(&guard, &[own, (TOKEN, token)]), None);
        // The page is no secret, but for other sites.
        let page = |headers: &[(&'static str, &str)]| {
            let header = |&(name, value): &(&'static str, &str)| {
                let name: hyper::header::HeaderName = name.parse().unwrap();
                (name, value.parse().unwrap())
            };
            guard.check_page(&headers.iter().map(header).collect())
        };
        assert!(page(&[own]).is_ok() && page(&[("host", "evil.example")]).is_err());
        assert!(page(&[own, ("sec-fetch-site", "cross-site")]).is_err());
        // Another name of this machine has to be told.
        let lan = page(&[("host", "192.168.0.7:1")]).unwrap_err();
        assert!(lan.message.contains("--host NAME"));
    }
}
