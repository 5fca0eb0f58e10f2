// swift-tools-version:5.9
// brr for Swift. scripts/build-uniffi puts the generated sources into Sources and the static
// library into lib. For iOS, build the library for its targets, pack them as an XCFramework, and
// let a .binaryTarget take the place of the flag below.
import PackageDescription

let package = Package(
    name: "Brr",
    products: [
        .library(name: "Brr", targets: ["Brr"])
    ],
    targets: [
        .systemLibrary(name: "brrFFI", path: "Sources/brrFFI"),
        .target(
            name: "Brr",
            dependencies: ["brrFFI"],
            path: "Sources/Brr",
            linkerSettings: [
                .unsafeFlags(["-L\(Context.packageDirectory)/lib"]),
                .linkedLibrary("brr_uniffi"),
            ]
        ),
    ]
)
