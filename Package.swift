// swift-tools-version: 6.2
import PackageDescription

/// One list for every Swift target, so that all of them are held to the same standard.
var settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
]

// For CI alone: a warning of a later compiler must not break the build of whoever uses this package.
if Context.environment["FUTURES_WARNINGS_AS_ERRORS"] != nil {
  settings.append(.treatAllWarnings(as: .error))
}

let package = Package(
  name: "swift-futures",
  platforms: [.macOS(.v10_15), .iOS(.v13), .tvOS(.v13), .watchOS(.v6), .visionOS(.v1)],
  products: [
    .library(name: "Futures", targets: ["Futures"]),
    .library(name: "FuturesAsync", targets: ["FuturesAsync"]),
    .library(name: "FuturesFoundation", targets: ["FuturesFoundation"]),
    .library(name: "FuturesTesting", targets: ["FuturesTesting"]),
    .library(name: "FuturesTestingTraits", targets: ["FuturesTestingTraits"]),
    .executable(name: "futures-demo", targets: ["futures-demo"]),
    .executable(name: "futures-benchmark", targets: ["futures-benchmark"]),
    .executable(name: "futures-stress", targets: ["futures-stress"]),
    .executable(name: "migrate-callbacks", targets: ["migrate-callbacks"]),
    .plugin(name: "MigrateCallbacks", targets: ["MigrateCallbacks"]),
  ],
  targets: [
    // Callback futures. Never Foundation. Raw layout is for its atomics and its lock: the standard library's need macOS 15.
    .target(
      name: "Futures",
      dependencies: ["CFutures"],
      swiftSettings: settings + [.enableExperimentalFeature("RawLayout")]
    ),
    // Atomic operations, parking, thread-local storage, standard error: Swift has none of them for every platform and version.
    .target(name: "CFutures"),
    // The bridge to async/await. Never Foundation.
    .target(name: "FuturesAsync", dependencies: ["Futures"], swiftSettings: settings),
    // Foundation's callback APIs as futures.
    .target(name: "FuturesFoundation", dependencies: ["Futures"], swiftSettings: settings),
    // What users of the library need in their own tests.
    .target(name: "FuturesTesting", dependencies: ["Futures", "CFuturesTesting"], swiftSettings: settings),
    // A trait for Swift Testing, which `FuturesTesting` does not import: it also serves tests with XCTest.
    .target(name: "FuturesTestingTraits", dependencies: ["Futures", "FuturesTesting"], swiftSettings: settings),
    // A hook of the Swift runtime, and thread-local storage, for the tests of users only.
    .target(name: "CFuturesTesting"),

    .executableTarget(
      name: "futures-demo",
      dependencies: ["Futures", "FuturesAsync", "ProgramSupport"],
      swiftSettings: settings
    ),

    // Counts allocations by interposing malloc; linked into the benchmark and the tests, never into the library.
    .target(name: "AllocationCounter"),
    .executableTarget(
      name: "futures-benchmark",
      dependencies: ["Futures", "FuturesAsync", "AllocationCounter"],
      swiftSettings: settings
    ),
    // A server on the loopback interface, for the demo and the tests.
    .target(name: "ProgramSupport", swiftSettings: settings),

    // Random operations from many threads, under the sanitizers too.
    .executableTarget(
      name: "futures-stress",
      dependencies: ["Futures", "FuturesAsync", "FuturesTesting", "AllocationCounter"],
      swiftSettings: settings
    ),

    // Writes the counterparts of a code base: `swift package migrate-callbacks`, or the executable without a package.
    .target(name: "CallbackMigration", swiftSettings: settings),
    .executableTarget(name: "migrate-callbacks", dependencies: ["CallbackMigration"], swiftSettings: settings),
    .plugin(
      name: "MigrateCallbacks",
      capability: .command(
        intent: .custom(
          verb: "migrate-callbacks",
          description: "Lists the functions that take callbacks, and writes async and future counterparts for them."
        )
      ),
      dependencies: ["migrate-callbacks"],
      path: "Sources/MigrateCallbacks"
    ),

    .target(
      name: "TestSupport",
      dependencies: ["Futures", "AllocationCounter"],
      path: "Tests/Support",
      swiftSettings: settings
    ),
    .testTarget(
      name: "FuturesTests",
      dependencies: ["Futures", "CFutures", "FuturesTesting", "AllocationCounter", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FuturesAsyncTests",
      dependencies: ["Futures", "FuturesAsync", "AllocationCounter", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FuturesFoundationTests",
      dependencies: [
        "Futures", "FuturesAsync", "FuturesFoundation", "FuturesTesting", "AllocationCounter", "ProgramSupport",
        "TestSupport",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FuturesTestingTests",
      dependencies: [
        "Futures", "FuturesAsync", "FuturesTesting", "FuturesTestingTraits", "AllocationCounter", "TestSupport",
      ],
      swiftSettings: settings
    ),
    // The code of the page of recipes, in every order.
    .testTarget(
      name: "RecipeTests",
      dependencies: ["Futures", "FuturesAsync", "FuturesTesting", "TestSupport"],
      swiftSettings: settings
    ),
    // Old code of other libraries, which compiles by a shim, and what their own test-suites hold that to.
    .testTarget(
      name: "FutureXShimTests",
      dependencies: ["Futures", "FuturesAsync", "FuturesTesting", "TestSupport"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "DeferredShimTests",
      dependencies: ["Futures", "FuturesAsync", "FuturesTesting", "TestSupport"],
      swiftSettings: settings
    ),
    // Compiles the core a second time, through a link. Has its own atomics, locks and thread-local storage: the tests decide the
    // order of steps, and both copies of the core run on one thread.
    .testTarget(
      name: "ExplorationTests",
      dependencies: ["CFutures", "TestSupport"],
      exclude: [
        "Core/Futures.docc", "Core/Core/Trampoline+Current.swift",
        "Core/Support/AtomicByte.swift", "Core/Support/AtomicWord.swift", "Core/Support/Lock.swift",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "CallbackMigrationTests",
      dependencies: ["CallbackMigration"],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)

// The inner loop: `FUTURES_TESTS=FuturesTests swift test` builds that test target and what it needs, and nothing else. Several
// names are separated by commas.
if let wanted = Context.environment["FUTURES_TESTS"], !wanted.isEmpty {
  var names = Set(wanted.split(separator: ",").map(String.init))
  var unread = Array(names)
  while let name = unread.popLast() {
    guard let target = package.targets.first(where: { $0.name == name }) else {
      fatalError("FUTURES_TESTS names \(name), which is no target of this package.")
    }
    for case .byNameItem(let dependency, _) in target.dependencies where names.insert(dependency).inserted {
      unread.append(dependency)
    }
  }
  package.targets.removeAll { !names.contains($0.name) }
  package.products = []
}
