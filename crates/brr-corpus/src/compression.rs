//! Packed files on either side.
//!
//! The writer can end a gzip member or Zstandard frame at any point: what was written until then
//! is a whole packed file by itself, so a partial output may be cut there and continued. Readers
//! of both formats join members and frames.
//!
//! Zstandard is the reference library by way of the `zstd` crate: of the Rust encoders only it
//! has all levels, and a checksum on either side. Parquet links it in any case.

use std::io::{self, BufReader, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::format::Compression;

const GZIP_LEVEL: flate2::Compression = flate2::Compression::new(6);
#[cfg(feature = "zstd")]
const ZSTD_LEVEL: i32 = 3;

/// Unpacks a stream of any number of members or frames.
pub fn reader(
    source: impl Read + Send + 'static,
    compression: Compression,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::None => Box::new(source),
        Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(
            64 << 10,
            source,
        ))),
        #[cfg(feature = "zstd")]
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(source)?),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => return Err(io::ErrorKind::Unsupported.into()),
    })
}

/// Compresses bytes, and ends a member or frame on request.
pub struct Compressor {
    compression: Compression,
    current: Option<Encoder>,
    ever: bool,
}

enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    #[cfg(feature = "zstd")]
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Compressor {
    /// Nothing is packed yet.
    pub fn new(compression: Compression) -> Compressor {
        Compressor {
            compression,
            current: None,
            ever: false,
        }
    }

    /// Packs bytes into `out`, as far as the encoder is ready to.
    pub fn compress(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        if self.compression == Compression::None {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        if self.current.is_none() {
            self.current = Some(self.start()?);
            self.ever = true;
        }
        match self.current.as_mut() {
            Some(Encoder::Gzip(encoder)) => {
                encoder.write_all(bytes)?;
                out.append(encoder.get_mut());
            }
            #[cfg(feature = "zstd")]
            Some(Encoder::Zstd(encoder)) => {
                encoder.write_all(bytes)?;
                out.append(encoder.get_mut());
            }
            None => {}
        }
        Ok(())
    }

    fn start(&self) -> io::Result<Encoder> {
        Ok(match self.compression {
            #[cfg(not(feature = "zstd"))]
            Compression::Zstd => return Err(io::ErrorKind::Unsupported.into()),
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            _ => Encoder::Gzip(GzEncoder::new(Vec::new(), GZIP_LEVEL)),
        })
    }

    /// Ends the member or frame that is open.
    pub fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let tail = match self.current.take() {
            Some(Encoder::Gzip(encoder)) => encoder.finish()?,
            #[cfg(feature = "zstd")]
            Some(Encoder::Zstd(encoder)) => encoder.finish()?,
            None => return Ok(()),
        };
        out.extend_from_slice(&tail);
        Ok(())
    }

    /// As [`end`](Self::end), for the end of the file: even an empty file has one member.
    pub fn finish(&mut self, already: u64, out: &mut Vec<u8>) -> io::Result<()> {
        if already == 0 && !self.ever {
            self.compress(&[], out)?;
        }
        self.end(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_join_and_an_empty_file_has_one() {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let mut compressor = Compressor::new(compression);
            let mut packed = Vec::new();
            for part in ["one\n", "two\n", "three"] {
                compressor.compress(part.as_bytes(), &mut packed).unwrap();
                compressor.end(&mut packed).unwrap();
            }
            let read = |bytes: Vec<u8>| {
                let mut text = String::new();
                let mut reader = reader(io::Cursor::new(bytes), compression).unwrap();
                reader.read_to_string(&mut text).map(|_| text)
            };
            assert_eq!(read(packed.clone()).unwrap(), "one\ntwo\nthree");
            if compression != Compression::None {
                packed.pop();
                let error = read(packed).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            }
            let mut empty = Vec::new();
            Compressor::new(compression).finish(0, &mut empty).unwrap();
            assert_eq!(empty.is_empty(), compression == Compression::None);
            assert_eq!(read(empty).unwrap(), "");
        }
    }
}
