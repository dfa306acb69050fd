// swift-tools-version: 6.2
import PackageDescription

// A news reader as it was before async/await: callbacks only, and no dependency. `Steps` has what Migration.md makes of it,
// and `.ci/sample-app` goes that way: after each step the same contract suite passes.
let package = Package(
  name: "Newsreader",
  platforms: [.macOS(.v15), .iOS(.v18)],
  targets: [
    .target(name: "Newsreader"),
    .testTarget(name: "ContractTests", dependencies: ["Newsreader"]),
  ],
  swiftLanguageModes: [.v6]
)
