//! Writes the Kotlin, Swift or Python sources for the library beside it.

fn main() {
    uniffi::uniffi_bindgen_main()
}
