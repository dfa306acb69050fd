// swift-tools-version: 6.2
import PackageDescription

// Callback functions whose work is in their async counterparts. `.ci/check-migration-tool` copies this package, applies `turn-around`,
// and compares the output of Record before and after.

let dependencies: [Target.Dependency] = [
  .product(name: "Futures", package: "swift-futures"), .product(name: "FuturesAsync", package: "swift-futures"),
]

let package = Package(
  name: "TurnAroundFixture",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-futures", path: "../..")],
  targets: [
    .target(
      name: "Post",
      dependencies: dependencies,
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
      ]
    ),
    // Closures without annotations, as old code has them.
    .target(name: "OldPost", dependencies: dependencies, swiftSettings: [.swiftLanguageMode(.v5)]),
    // An async API. `.ci/check-migration-tool` writes its callback functions, and then adds the program that calls them.
    .target(
      name: "Answers",
      dependencies: dependencies,
      swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error)]
    ),
    .executableTarget(name: "Record", dependencies: ["Post", "OldPost"], swiftSettings: [.swiftLanguageMode(.v5)]),
  ],
  swiftLanguageModes: [.v6]
)
