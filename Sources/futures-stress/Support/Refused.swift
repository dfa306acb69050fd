/// The failure of an operation that the program lets fail.
struct Refused: Error {}
