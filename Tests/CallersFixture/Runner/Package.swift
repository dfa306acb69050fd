// swift-tools-version: 6.2
import PackageDescription

// Runs the shapes before and after their conversion. In a separate package: its awaits would count as callers of the
// shapes.
let package = Package(
  name: "Runner",
  platforms: [.macOS(.v15)],
  dependencies: [.package(path: "..")],
  targets: [
    .executableTarget(name: "RunShapes", dependencies: [.product(name: "Shapes", package: "CallersFixture")]),
    .executableTarget(name: "RunShapesInSwift5", dependencies: [.product(name: "Shapes", package: "CallersFixture")]),
  ]
)
