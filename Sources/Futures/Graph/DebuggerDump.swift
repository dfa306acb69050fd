/// Writes the graph of everything that is pending to standard error, for a debugger.
///
/// In LLDB: `expression -l c -- extern void futures_dump(void); futures_dump()`, in a frame of any language.
@_cdecl("futures_dump")
public func futures_dump() { FuturesDiagnostics.dump() }
