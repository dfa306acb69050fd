internal import Foundation

extension CocoaError {
  /// Returns the error of a failed system call.
  /// - Parameters:
  ///   - number: The error number, for the underlying error.
  ///   - code: The code of the error.
  ///   - file: The file, if the call had one.
  /// - Returns: The error.
  static func posix(_ number: Int32, _ code: CocoaError.Code, at file: URL? = nil) -> CocoaError {
    var userInfo: [String: Any] = [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number))]
    userInfo[NSFilePathErrorKey] = file?.path
    return CocoaError(code, userInfo: userInfo)
  }
}
