import Futures

/// Makes one of our promises out of line, as for a producer elsewhere in a program.
///
/// Else the compiler may see that no promise outlives the loop of the benchmark, and allocate none.
@inline(never)
func makePromise() -> Promise<Int, any Error> {
  Promise()
}

/// The same for the floor.
@inline(never)
func makeHandPromise() -> HandPromise {
  HandPromise()
}
