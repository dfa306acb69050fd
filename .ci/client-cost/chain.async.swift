@inline(never) func get(_ text: String) async throws -> String { text }
@inline(never) func number(_ value: Int) async throws -> Int { value }

// -- repeated --
public func load$N(_ text: String) async throws -> String {
  let count: Int
  do {
    count = try await number((try await get(text) + "$N").count + $N) * 2
  } catch {
    count = $N
  }
  return try await get("\(count)")
}
