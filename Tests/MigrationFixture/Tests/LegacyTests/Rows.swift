import Futures
import FuturesAsync
import Legacy

private let user = "User(id: 1, name: \"Ada\")"
private let picture = "Picture(bytes: [1, 2, 3])"

extension Row {
  static let all =
    results + valuesAndErrors + values + errorsAndPairs + aliases + downloads + names + generics + members

  static let results = [
    Row("Result", gives: user) {
      try await Users($0).user(id: 1)
    } future: {
      Users($0).userFuture(id: 1)
    },
    Row("Result with an error of its own", gives: user, failure: "offline") {
      try await Users($0).signIn(name: "Ada")
    } future: {
      Users($0).signInFuture(name: "Ada")
    },
    Row("Result that cannot fail", gives: user, failure: nil) {
      try await Users($0).cachedUser(id: 1)
    } future: {
      Users($0).cachedUserFuture(id: 1)
    },
    Row("Result of nothing", gives: "()") {
      try await Users($0).signOut()
    } future: {
      Users($0).signOutFuture()
    },
    Row("Result of a labelled tuple", gives: "(name: \"Ada\", age: 36)") {
      try await Users($0).details(id: 1)
    } future: {
      Users($0).detailsFuture(id: 1)
    },
    Row("Result of an optional", gives: "nil") {
      try await Users($0).nickname(id: 1)
    } future: {
      Users($0).nicknameFuture(id: 1)
    },
  ]

  static let valuesAndErrors = [
    Row("value?, error?", gives: picture) {
      try await Users($0).picture(id: 1)
    } future: {
      Users($0).pictureFuture(id: 1)
    },
    Row("two values? and error?", gives: "(\(qualified), 3)") {
      try await Users($0).pictureAndSize(id: 1)
    } future: {
      Users($0).pictureAndSizeFuture(id: 1)
    },
    Row("three values? and error?", gives: "(\(qualified), 3, \"title\")") {
      try await Users($0).page(id: 1)
    } future: {
      Users($0).pageFuture(id: 1)
    },
    Row("value and error?", gives: "[Legacy.\(user)]") {
      try await Users($0).friends(of: User(id: 1))
    } future: {
      Users($0).friendsFuture(of: User(id: 1))
    },
    Row("value?, value and error?", gives: "(nil, true)") {
      try await Users($0).latest()
    } future: {
      Users($0).latestFuture()
    },
    Row("value? and an error of its own", gives: "token", failure: "offline") {
      try await Users($0).token()
    } future: {
      Users($0).tokenFuture()
    },
  ]

  static let values = [
    Row("value", gives: "7", failure: nil) {
      try await Users($0).nextID()
    } future: {
      Users($0).nextIDFuture()
    },
    Row("values", gives: "(width: 3, height: 4)", failure: nil) {
      try await Users($0).size()
    } future: {
      Users($0).sizeFuture()
    },
    Row("optional value", gives: "Optional(Legacy.\(user))", failure: "nil") {
      try await Users($0).userIfAny(id: 1)
    } future: {
      Users($0).userIfAnyFuture(id: 1)
    },
    Row(
      "a result of the team's",
      gives: "found(Legacy.\(user))",
      failure: "missing",
      only: { backend in
        "\(try await Users(backend).lookUp(id: 1))"
      }
    ),
    Row("nothing", gives: "()", failure: nil) {
      try await Users($0).flush()
    } future: {
      Users($0).flushFuture()
    },
    Row("async callback", gives: user, failure: nil) {
      try await Users($0).refresh()
    } future: {
      Users($0).refreshFuture()
    },
  ]

  static let errorsAndPairs = [
    Row("error?", gives: "()") {
      try await Users($0).delete(id: 1)
    } future: {
      Users($0).deleteFuture(id: 1)
    },
    Row("success, failure", gives: user) {
      try await Users($0).load(id: 1)
    } future: {
      Users($0).loadFuture(id: 1)
    },
    Row("success of nothing, failure of its own", gives: "()", failure: "offline") {
      try await Users($0).save(User(id: 1))
    } future: {
      Users($0).saveFuture(User(id: 1))
    },
    Row("success of two values, optional failure", gives: "(\"Ada\", \"Lovelace\")") {
      try await Users($0).split("Ada Lovelace")
    } future: {
      Users($0).splitFuture("Ada Lovelace")
    },
  ]

  static let aliases = [
    Row("generic alias", gives: user) {
      try await Aliases($0).generic(id: 1)
    } future: {
      Aliases($0).genericFuture(id: 1)
    },
    Row("alias made optional", gives: user) {
      try await Aliases($0).made(id: 1)
    } future: {
      Aliases($0).madeFuture(id: 1)
    },
    Row("aliases in full", gives: "()") {
      try await Aliases($0).qualified { _ in }
    } future: {
      Aliases($0).qualifiedFuture()
    },
    Row("requirement", gives: user) {
      try await item(of: UserLoading($0))
    } future: {
      itemFuture(of: UserLoading($0))
    },
  ]

  static let downloads = [
    Row("fraction", gives: picture) {
      try await Downloads($0).file(at: "a") { _ in }
    } future: {
      Downloads($0).fileFuture(at: "a")
    },
    Row("counts", gives: picture, hasHandle: true) {
      try await Downloads($0).bytes { _, _ in }
    } future: {
      Downloads($0).bytesFuture()
    },
    Row("optional total", gives: "()") {
      try await Downloads($0).items()
    } future: {
      Downloads($0).itemsFuture()
    },
    Row("handle", gives: picture, hasHandle: true) {
      try await Downloads($0).fetch("a")
    } future: {
      Downloads($0).fetchFuture("a")
    },
    Row("optional handle", gives: picture, hasHandle: true) {
      try await Downloads($0).fetchIfNeeded(true)
    } future: {
      Downloads($0).fetchIfNeededFuture(true)
    },
    Row("handle of a protocol", gives: picture, hasHandle: true) {
      try await Downloads($0).fetchAny("a")
    } future: {
      Downloads($0).fetchAnyFuture("a")
    },
  ]

  static let names = [
    Row("overload by type", gives: "[Legacy.\(user)]") {
      try await Names($0).search(for: 1)
    } future: {
      Names($0).searchFuture(for: 1)
    },
    Row("overload by another type", gives: "[Legacy.\(user)]") {
      try await Names($0).search(for: "Ada")
    } future: {
      Names($0).searchFuture(for: "Ada")
    },
    Row("names that collide", gives: "(28, \"sum\", 1)", hasHandle: true) {
      try await Names($0)
        .collide(callback: 1, promise: 2, handle: 3, error: 4, value1: 5, value2: 6, self: 7) { _ in }
    } future: {
      Names($0).collideFuture(callback: 1, promise: 2, handle: 3, error: 4, value1: 5, value2: 6, self: 7)
    },
    Row("words of the language", gives: "3", failure: nil) {
      try await Names($0).repeat(1, in: 2)
    } future: {
      Names($0).repeatFuture(1, in: 2)
    },
    Row("parameters without a name", gives: "1", failure: nil) {
      try await Names($0).ignore(1, label: 2)
    } future: {
      Names($0).ignoreFuture(1, label: 2)
    },
    Row("defaults", gives: "35", failure: nil) {
      try await Names($0).configure()
    } future: {
      Names($0).configureFuture()
    },
    Row("closures beside the callback", gives: "[\"1\", \"2\"]", failure: nil) {
      try await Names($0).map { "\($0)" }
    } future: {
      Names($0).mapFuture { "\($0)" }
    },
    Row("closure that does not escape", gives: "[2, 3]", failure: nil) {
      try await Names($0).filter { $0 > 1 }
    } future: {
      Names($0).filterFuture { $0 > 1 }
    },
    Row("escaping autoclosure", gives: "true", failure: nil) {
      try await Names($0).checkLater(1 < 2)
    } future: {
      Names($0).checkLaterFuture(1 < 2)
    },
    Row("throwing an error of its own, with a handle", gives: user, hasHandle: true) {
      try await Names($0).validate(typed: 1)
    } future: {
      Names($0).validateFuture(typed: 1)
    },
  ]

  static let generics = [
    Row("generic", gives: user) {
      try await Loader($0).load(User.self, from: "Ada")
    } future: {
      Loader($0).loadFuture(User.self, from: "Ada")
    },
    Row("where", gives: user) {
      try await Loader($0).store([User(id: 1)])
    } future: {
      Loader($0).storeFuture([User(id: 1)])
    },
    Row("generic that is not Sendable", gives: "kept", only: { try await Loader($0).keep("kept") }),
    Row("generic error", gives: "1", failure: nil) {
      try await Loader($0).attempt(Result<Int, SignInError>.success(1))
    } future: {
      Loader($0).attemptFuture(Result<Int, SignInError>.success(1))
    },
    Row("opaque parameter", gives: "2", failure: nil) {
      try await Loader($0).count([1, 2])
    } future: {
      Loader($0).countFuture([1, 2])
    },
    Row("member of a generic type", gives: "1") {
      try await Cache($0, ["a": 1]).value(for: "a")
    } future: {
      Cache($0, ["a": 1]).valueFuture(for: "a")
    },
    Row("constrained extension", gives: "1", failure: nil) {
      try await Cache($0, ["a": 1]).value(named: "a")
    } future: {
      Cache($0, ["a": 1]).valueFuture(named: "a")
    },
    Row("nested in a generic type", gives: "1") {
      try await Cache<String, Int>.Entry($0, 1).read()
    } future: {
      Cache<String, Int>.Entry($0, 1).readFuture()
    },
    Row("extension of Collection", gives: "Optional(1)", failure: nil) {
      try await [1].pick(from: $0)
    } future: {
      [1].pickFuture(from: $0)
    },
  ]

  static let members = [
    Row("static", gives: "1") {
      try await Service.connect(to: $0)
    } future: {
      Service.connectFuture(to: $0)
    },
    Row("class", gives: "1", failure: nil) {
      try await Service.discover(from: $0)
    } future: {
      Service.discoverFuture(from: $0)
    },
    Row("overridden", gives: "special") {
      try await SpecialService($0).start()
    } future: {
      SpecialService($0).startFuture()
    },
    Row("mutating", gives: "1", failure: nil) {
      var session = Service.Session($0)
      return try await session.next()
    } future: {
      var session = Service.Session($0)
      return session.nextFuture()
    },
    Row("deeply nested", gives: "quick", failure: nil) {
      try await Service.Session.Mode.quick.check($0)
    } future: {
      Service.Session.Mode.quick.checkFuture($0)
    },
    Row("of no type", gives: "12") {
      try await fetchTime(from: $0)
    } future: {
      fetchTimeFuture(from: $0)
    },
    Row("hides its function", gives: "4", failure: nil) {
      try await reload(reload: 4, from: $0)
    } future: {
      reloadFuture(reload: 4, from: $0)
    },
    Row("main actor's", gives: "title", only: { try await Screen($0).loadTitle() }),
    Row(
      "main actor's, with a handle",
      gives: picture,
      hasHandle: true,
      only: { backend in
        "\(try await Screen(backend).loadPicture(id: 1))"
      }
    ),
    Row("nonisolated in a type of the main actor's", gives: "screen", only: { try await Screen($0).describe() }),
    Row(
      "main actor's, of no type",
      gives: "4",
      failure: nil,
      only: { backend in
        "\(try await showAlert("text", from: backend))"
      }
    ),
    Row("storage's", gives: "key", only: { try await Storage($0).read("key") }),
    Row(
      "storage's, of no type",
      gives: "()",
      hasHandle: true,
      only: { backend in
        "\(try await compact(backend))"
      }
    ),
    Row(
      "actor's, with a handle",
      gives: "7",
      hasHandle: true,
      only: { backend in
        "\(try await Account(backend).withdraw(3))"
      }
    ),
    Row("nonisolated of an actor", gives: "account") {
      try await Account($0).name()
    } future: {
      Account($0).nameFuture()
    },
    Row("static of an actor", gives: "3") {
      try await Account.rate($0)
    } future: {
      Account.rateFuture($0)
    },
    Row("not Sendable", gives: "draft") {
      try await Editor($0).open("draft").text
    } future: {
      Editor($0).openFuture("draft").map(\.value.text)
    },
  ]

  private static var qualified: String { "Legacy.\(picture)" }

  private static func item<Items: Loading>(of items: Items) async throws -> Items.Item { try await items.loadItem() }

  private static func itemFuture<Items: Loading>(of items: Items) -> Future<Items.Item, any Error> {
    items.loadItemFuture()
  }
}
