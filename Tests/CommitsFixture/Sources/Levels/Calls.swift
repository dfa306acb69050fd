func addSum(_ store: Store) async {
  store.sum(1, 20) { result in store.notes.add((try? result.get()).map { "\($0)" } ?? "failed") }
}

func addAudit(_ store: Store) async {
  store.audit { count in store.notes.add("audit: \(count)") }
}
