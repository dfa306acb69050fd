// swift-tools-version: 6.2
import PackageDescription

// Code with callbacks of every kind, for which `swift package migrate-callbacks` writes counterparts. `.ci/check-migration-tool` copies
// this package, generates `Counterparts.swift`, compares that file with Expected, builds the copy and runs its tests.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
  // Counterparts call what `--deprecate` deprecates.
  .treatWarning("DeprecatedDeclaration", as: .warning),
]

// The settings of old code.
let settingsOfSwift5: [SwiftSetting] = [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]

let dependencies: [Target.Dependency] = [
  .product(name: "Futures", package: "swift-futures"), .product(name: "FuturesAsync", package: "swift-futures"),
]

let package = Package(
  name: "MigrationFixture",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-futures", path: "../..")],
  targets: [
    .target(name: "Legacy", dependencies: dependencies, swiftSettings: settings),
    .target(
      name: "Screens",
      dependencies: dependencies,
      swiftSettings: settings + [
        .defaultIsolation(MainActor.self), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]
    ),
    // Each shape that a counterpart could get wrong. `.ci/check-migration-tool` makes a copy, ShapesInSwift5.
    .target(name: "Shapes", dependencies: dependencies, swiftSettings: settings),
    .target(name: "ShapesInSwift5", dependencies: dependencies, swiftSettings: settingsOfSwift5),
    // A counterpart of Shapes in another target.
    .target(name: "Bridges", dependencies: ["Shapes"] + dependencies, swiftSettings: settings),
    .testTarget(name: "ShapesTests", dependencies: ["Shapes"] + dependencies, swiftSettings: settings),
    .testTarget(
      name: "ShapesInSwift5Tests",
      dependencies: ["ShapesInSwift5"] + dependencies,
      swiftSettings: settings
    ),
    .testTarget(name: "LegacyTests", dependencies: ["Legacy", "Screens"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
