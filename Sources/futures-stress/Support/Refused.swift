/// The failure that operations choose for themselves.
struct Refused: Error {}
