/// Asks for users. Every shape of callback is here once.
public final class Users: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  // MARK: - Result

  /// Fetches a user.
  /// - Parameters:
  ///   - id: The number of the user.
  ///   - completion: Gets the user,
  ///     or what went wrong.
  /// - Returns: Nothing.
  public func user(id: Int, completion: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: id), completion)
  }

  /// Signs in.
  ///
  /// Fails with an error of its own.
  /// - Parameter name: The name of the user.
  /// - Parameter password: The password.
  /// - Parameter completion: Gets the user.
  public func signIn(
    name: String,
    password: String = "a, (b",
    completion: @escaping @Sendable (Result<User, SignInError>) -> Void
  ) {
    backend.ask { error in completion(error == nil ? .success(User(id: 1, name: name)) : .failure(.offline)) }
  }

  /// Looks into the cache, which cannot fail.
  public func cachedUser(id: Int, completion: @escaping (Result<User, Never>) -> Void) {
    backend.ask { _ in completion(.success(User(id: id))) }
  }

  /// Signs out.
  /// - Parameter completion: Is told when it is done.
  public func signOut(completion: @escaping (Result<Void, any Error>) -> Void) {
    _ = backend.ask(for: (), completion)
  }

  /// Finds out how the user is called, and how old she is.
  public func details(id: Int, completion: @escaping (Result<(name: String, age: Int), any Error>) -> Void) {
    _ = backend.ask(for: (name: "Ada", age: 36), completion)
  }

  /// Completes with nothing of use, or a value that is missing.
  public func nickname(id: Int, completion: @escaping (Result<String?, any Error>) -> Void) {
    _ = backend.ask(for: nil, completion)
  }

  // MARK: - Value and error

  /// Fetches a picture.
  public func picture(id: Int, completionHandler: @escaping (Picture?, (any Error)?) -> Void) {
    backend.ask { completionHandler($0 == nil ? Picture() : nil, $0) }
  }

  /// Fetches a picture and its size.
  public func pictureAndSize(id: Int, completion: @escaping (Picture?, Int?, (any Error)?) -> Void) {
    backend.ask { completion($0 == nil ? Picture() : nil, $0 == nil ? 3 : nil, $0) }
  }

  /// Fetches a picture, its size and its title.
  public func page(id: Int, completion: @escaping (Picture?, Int?, String?, (any Error)?) -> Void) {
    backend.ask { error in
      if let error { completion(nil, nil, nil, error) } else { completion(Picture(), 3, "title", nil) }
    }
  }

  /// Fetches the friends of a user: none, if that fails.
  public func friends(of user: User, completion: @escaping ([User], (any Error)?) -> Void) {
    backend.ask { completion($0 == nil ? [user] : [], $0) }
  }

  /// Fetches the picture, if there is one, and whether it is new.
  public func latest(completion: @escaping (Picture?, Bool, (any Error)?) -> Void) {
    backend.ask { completion(nil, true, $0) }
  }

  /// Neither a value nor an error: breaks the rule.
  public func nothingAtAll(completion: @escaping (Picture?, (any Error)?) -> Void) {
    let picture: Picture? = nil
    backend.ask { _ in completion(picture, nil) }
  }

  /// A success without a value.
  public func avatar(completion: @escaping (Picture?, (any Error)?) -> Void) {
    backend.ask { error in if error != nil { completion(nil, error) } else { completion(nil, nil) } }
  }

  /// Fails with an error of its own.
  public func token(completion: @escaping (String?, SignInError?) -> Void) {
    backend.ask { completion($0 == nil ? "token" : nil, $0 == nil ? nil : .offline) }
  }

  // MARK: - Values alone

  /// Makes a number.
  public func nextID(completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(7) }
  }

  /// Measures.
  public func size(completion: @escaping (_ width: Int, _ height: Int) -> Void) {
    backend.ask { _ in completion(3, 4) }
  }

  /// Fetches a user, or `nil`.
  public func userIfAny(id: Int, completion: @escaping (User?) -> Void) {
    backend.ask { completion($0 == nil ? User(id: id) : nil) }
  }

  /// Completes with a result that is not Swift's.
  public func lookUp(id: Int, completion: @escaping (Outcome<User>) -> Void) {
    backend.ask { completion($0 == nil ? .found(User(id: id)) : .missing) }
  }

  /// Writes everything down.
  public func flush(completion: @escaping () -> Void) {
    backend.ask { _ in completion() }
  }

  // MARK: - Errors alone

  /// Deletes a user.
  public func delete(id: Int, completion: @escaping ((any Error)?) -> Void) {
    backend.ask { completion($0) }
  }

  // MARK: - Pairs

  /// Fetches a user.
  /// - Parameters:
  ///   - id: The number of the user.
  ///   - success: Gets the user.
  ///   - failure: Gets the error.
  public func load(id: Int, success: @escaping (User) -> Void, failure: @escaping (any Error) -> Void) {
    backend.ask { error in
      if let error { failure(error) } else { success(User(id: id)) }
    }
  }

  /// Saves a user.
  public func save(_ user: User, onSuccess: @escaping () -> Void, onError: @escaping (SignInError) -> Void) {
    backend.ask { $0 == nil ? onSuccess() : onError(.offline) }
  }

  /// Splits a name.
  public func split(
    _ name: String,
    success: @escaping (String, String) -> Void,
    failure: ((any Error) -> Void)? = nil
  ) {
    nonisolated(unsafe) let failure = failure
    backend.ask { error in
      if let error { failure?(error) } else { success("Ada", "Lovelace") }
    }
  }

  // MARK: - Many times, and unknown

  /// Tells of each change.
  public func observeUsers(_ handler: @escaping (User) -> Void) -> Job {
    backend.ask { _ in
      handler(User(id: 1))
      handler(User(id: 2))
    }
  }

  /// Asks back.
  public func confirm(completion: @escaping (@escaping (Bool) -> Void) -> Void) {
    backend.ask { _ in completion { _ in } }
  }

  /// Calls an async callback.
  public func refresh(completion: @escaping @Sendable (User) async -> Void) {
    backend.ask { _ in Task { await completion(User(id: 1)) } }
  }
}
