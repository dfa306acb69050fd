internal import Foundation

extension CocoaError {
  /// Returns the error of a failed system call, with the POSIX error `number`, its `errno`, as the underlying error.
  static func posix(_ number: Int32, _ code: CocoaError.Code, at file: URL? = nil) -> CocoaError {
    var userInfo: [String: Any] = [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number))]
    userInfo[NSFilePathErrorKey] = file?.path
    return CocoaError(code, userInfo: userInfo)
  }
}
