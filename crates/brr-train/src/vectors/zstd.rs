//! Zstandard files of any number of frames.
//!
//! The decoder crate decodes one frame and leaves the rest to the caller: the next frame (parallel
//! compressors write many), frames to skip, and the comparison of the checksum.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Decompresses all frames of a Zstandard file.
pub(super) struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(source: R) -> Self {
        ZstdReader {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Starts the next frame. `false` at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                }
                Err(e) => return Err(io::Error::new(io::ErrorKind::InvalidData, e)),
            }
        }
        Ok(false)
    }

    /// Compares the checksum at the end of a frame.
    fn end_frame(&mut self) -> io::Result<()> {
        self.in_frame = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the checksum differs",
            ));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame {
                if buf.is_empty() || !self.next_frame()? {
                    return Ok(0);
                }
                self.in_frame = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
            }
            match self.decoder.read(buf)? {
                0 => self.end_frame()?,
                n => return Ok(n),
            }
        }
    }
}
