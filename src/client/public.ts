/* What `corral/client` has beside `connect`, for Node and for browsers. */

export type * from './api.ts'
export type { AllowOptions, Approval, ApprovalOptions, Verdict } from './approvals.ts'
export type { MethodName } from './calls.ts'
export type { ConnectOptions, Corral } from './corral.ts'
export type { LogRange } from './event-stream.ts'
export type { Cursor, EventFeed, EventOptions } from './feed.ts'
export { ClientError, ConnectionLost, DaemonUnreachable, NativeError } from './link.ts'
export type { Message, SendOptions, Session } from './session.ts'
export type { ListOptions, SessionList, Sessions, StartOptions, WatchOptions } from './sessions.ts'
export { TurnFailed, TurnInterrupted, type Answer, type TurnOptions } from './turn.ts'
