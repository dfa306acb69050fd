// What users of the library need in their own tests comes with the operators that it tests.
internal import Futures
internal import FuturesAsync
