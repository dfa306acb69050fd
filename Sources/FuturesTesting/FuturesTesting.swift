public import Futures
