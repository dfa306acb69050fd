// swift-tools-version: 6.2
import PackageDescription

// The trial cases of `migrate-callbacks convert`. `.ci/check-callers` copies `Shapes` into `ShapesInSwift5`.
let package = Package(
  name: "CallersFixture",
  platforms: [.macOS(.v15)],
  products: [.library(name: "Shapes", targets: ["Leaves", "Shapes", "ShapesInSwift5"])],
  dependencies: [.package(path: "../..")],
  targets: [
    .target(name: "Leaves"),
    .target(name: "Shapes", dependencies: ["Leaves"]),
    .target(name: "ShapesInSwift5", dependencies: ["Leaves"], swiftSettings: [.swiftLanguageMode(.v5)]),
  ]
)
