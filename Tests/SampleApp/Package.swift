// swift-tools-version: 6.2
import PackageDescription

// A news reader from before async/await: callbacks only, and no dependency. The patches in `Steps` follow Migration.md.
// `.ci/check-sample-app` applies them one by one: after each step the same contract suite passes.
let package = Package(
  name: "Newsreader",
  platforms: [.macOS(.v15), .iOS(.v18)],
  targets: [
    .target(name: "Newsreader"),
    .testTarget(name: "ContractTests", dependencies: ["Newsreader"]),
  ],
  swiftLanguageModes: [.v6]
)
