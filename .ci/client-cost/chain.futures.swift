import Futures

@inline(never) func get(_ text: String) -> Future<String, any Error> { .succeeded(text) }
@inline(never) func number(_ value: Int) -> Future<Int, any Error> { .succeeded(value) }

// -- repeated --
public func load$N(_ text: String) -> Future<String, any Error> {
  get(text)
    .map { $0 + "$N" }
    .map { $0.count }
    .flatMap { number($0 + $N) }
    .map { (value: Int) in value * 2 }
    .recover { _ in $N }
    .flatMap { get("\($0)") }
}
