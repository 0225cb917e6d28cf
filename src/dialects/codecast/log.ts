/** What the dialect tells its operator. */
export interface DialectLog {
  info(data: object, message: string): void
  warn(data: object, message: string): void
}
