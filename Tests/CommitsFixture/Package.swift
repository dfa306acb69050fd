// swift-tools-version: 6.2
import PackageDescription

// Callback functions of three levels, with tests, for `migrate-callbacks convert --commit --test`. `.ci/check-migration-tool`
// copies this package into a git repository.
let package = Package(
  name: "CommitsFixture",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-futures", path: "../..")],
  targets: [
    .target(
      name: "Levels",
      dependencies: [
        .product(name: "Futures", package: "swift-futures"), .product(name: "FuturesAsync", package: "swift-futures"),
      ]
    ),
    .testTarget(name: "LevelsTests", dependencies: ["Levels"]),
  ]
)
