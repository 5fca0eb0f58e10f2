//! Rounding before multiplying, and the one door to the `gemm` crates.

use gemm_common::Parallelism;

/// Leading bits to keep of each operand of a product with `k` terms, so that
/// every partial sum is an integer below 2^53 on the common grid.
pub fn bits_for(k: usize) -> u32 {
    (53 - k.max(1).next_power_of_two().trailing_zeros()) / 2
}

/// Rounds `values` to `bits` leading bits relative to the largest of them.
pub fn round(values: &mut [f64], bits: u32) {
    let largest = largest(values);
    if largest == 0.0 {
        return;
    }
    // |v| < 2^top for every value, so |v| is at most 2^bits steps of 2^(top - bits).
    let top = largest.log2_floor() + 1;
    // Adding and subtracting 1.5 * 2^(52 + step) drops all bits below the step,
    // to nearest: two exact IEEE operations that vectorize on every target.
    let magic = 1.5 * power_of_two(52 + top - bits as i32);
    values.iter_mut().for_each(|v| *v = (*v + magic) - magic);
}

/// Largest absolute value, 0 if there is none. A maximum is the same in any
/// order, so eight lanes may share the work.
fn largest(values: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            let v = v.abs();
            *lane = if v > *lane { v } else { *lane };
        }
    }
    lanes
        .iter()
        .chain(rest)
        .fold(0.0, |top, v| if v.abs() > top { v.abs() } else { top })
}

/// The exponent field of a number, without a logarithm.
trait Log2Floor {
    fn log2_floor(self) -> i32;
}

impl Log2Floor for f64 {
    fn log2_floor(self) -> i32 {
        ((self.to_bits() >> 52) & 0x7ff) as i32 - 1023
    }
}

/// 2^e as a number, for e in the normal range.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// `out = a * b` with `(m, k, n)` the shape, operands given as data with row
/// and column stride, `out` row-major. One thread.
///
/// The result is reproducible only if no addition rounds; see the parent module.
///
/// # Panics
/// If an operand is too short for its shape and strides.
pub fn gemm<T: Product>(
    (m, k, n): (usize, usize, usize),
    (a, rs_a, cs_a): (&[T], isize, isize),
    (b, rs_b, cs_b): (&[T], isize, isize),
    out: &mut [T],
) {
    assert!(
        fits(a.len(), (m, k), (rs_a, cs_a)),
        "left operand too short"
    );
    assert!(
        fits(b.len(), (k, n), (rs_b, cs_b)),
        "right operand too short"
    );
    assert_eq!(out.len(), m * n, "size of a product");
    // The kernels want columns next to each other, and `out` has rows: the product of the
    // transposed operands, in the other order, is the transposed product.
    // SAFETY: the three asserts above put every element that the kernel reads or
    // writes inside its slice, `out` is borrowed mutably so it overlaps none,
    // and all memory is initialized.
    unsafe {
        T::kernel()(
            n,
            m,
            k,
            out.as_mut_ptr(),
            n as isize,
            1,
            false,
            b.as_ptr(),
            rs_b,
            cs_b,
            a.as_ptr(),
            rs_a,
            cs_a,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The `gemm` crates' way to call a kernel, for one kind of number.
type Kernel<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

/// Numbers with a kernel for products.
pub trait Product: Copy + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The best kernel for this machine.
    fn kernel() -> Kernel<Self>;
}

impl Product for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn kernel() -> Kernel<f32> {
        gemm_f32::gemm::f32::get_gemm_fn()
    }
}

impl Product for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn kernel() -> Kernel<f64> {
        gemm_f64::gemm::f64::get_gemm_fn()
    }
}

/// Whether the last element of a `shape` with these strides lies inside `len`.
fn fits(len: usize, (rows, cols): (usize, usize), (rs, cs): (isize, isize)) -> bool {
    if rows == 0 || cols == 0 {
        return true;
    }
    rs >= 0 && cs >= 0 && (rows - 1) * rs as usize + (cols - 1) * (cs as usize) < len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_leading_bits() {
        let rounded = |values: &[f64], bits| {
            let mut values = values.to_vec();
            round(&mut values, bits);
            values
        };
        assert_eq!(rounded(&[1.0, 0.3, -0.3, 0.0], 4), [1.0, 0.25, -0.25, 0.0]);
        assert_eq!(rounded(&[0.0, 0.0], 20), [0.0, 0.0]);
        for scale in [1e-30, 1.0, 1e30] {
            let values: Vec<f64> = (1..100).map(|i| scale / i as f64).collect();
            for (v, r) in values.iter().zip(rounded(&values, 20)) {
                assert!((v - r).abs() <= scale * 2.0f64.powi(-20));
            }
        }
    }

    #[test]
    fn sums_fit_53_bits() {
        for k in [1, 2, 300, 33_860, 400_000] {
            let log_k = (k as f64).log2().ceil() as u32;
            assert!(2 * bits_for(k) + log_k <= 53);
            assert!(bits_for(k) >= 17);
        }
    }

    #[test]
    #[should_panic(expected = "left operand too short")]
    fn short_operands_are_refused() {
        gemm(
            (2, 2, 1),
            (&[1.0f64; 3], 2, 1),
            (&[1.0; 2], 1, 1),
            &mut [0.0; 2],
        );
    }
}
