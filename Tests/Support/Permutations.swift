/// Returns all orders of `elements`.
public func permutations<Element>(of elements: [Element]) -> [[Element]] {
  guard let first = elements.first else { return [[]] }
  return permutations(of: Array(elements.dropFirst())).flatMap { rest in
    (0...rest.count).map { index in
      var order = rest
      order.insert(first, at: index)
      return order
    }
  }
}
