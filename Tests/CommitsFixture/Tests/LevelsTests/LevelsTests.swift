import Testing

@testable import Levels

@Test func sum() async {
  let store = Store()
  await addSum(store)
  #expect(store.notes.all == ["3"])
}

@Test func audit() async {
  let store = Store()
  await addAudit(store)
  #expect(store.notes.all == ["callback", "audit: 1"])
}
