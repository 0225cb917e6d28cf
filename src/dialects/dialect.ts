import type { z } from 'zod'
import type { DeviceAccess } from '../access/devices.ts'
import type { TokenAccess } from '../access/first-message.ts'
import type { Engine } from '../core/api.ts'
import type { Device } from '../core/devices.ts'
import type { SignIn } from '../core/signin.ts'
import type { HttpHandler, HttpMethod } from '../transports/http.ts'
import type { Daemon, Machines, RelayPlace, Workspace } from './ports.ts'

/**
 * A client protocol that the daemon serves. `list.ts` has all of them; the daemon opens each that is enabled. What a dialect
 * needs for its clients is loaded by the first of them: `open` only listens.
 */
export interface Dialect<Name extends string = string, Shape extends SettingsShape = SettingsShape> {
  /** Its name in the configuration, in `run.json` and in messages to people. */
  readonly name: Name
  /** Its section of the configuration, setting by setting. With a setting `enabled` it can be switched off. */
  readonly settings: Shape
  /** Begins to listen. Throws when it cannot: the daemon says so and goes on without it. */
  open(context: DialectContext<SettingsOf<Shape>>): Promise<OpenDialect>
}

export interface OpenDialect {
  /** Where its clients connect: a URL, or the path of a socket. Null: at the front door. */
  readonly address: string | null
  /** Why it listens elsewhere than it should. */
  readonly trouble?: string
  /** Ends its connections and stops listening. */
  close(): Promise<void>
}

export type SettingsShape = Readonly<Record<string, z.ZodType>>
export type SettingsOf<Shape extends SettingsShape> = { readonly [Key in keyof Shape]: z.output<Shape[Key]> }

/** What a dialect is handed. Most use a few of these. */
export interface DialectContext<Settings = Readonly<Record<string, unknown>>> {
  /** Its own section of the configuration. */
  readonly settings: Settings
  readonly engine: Engine
  readonly daemon: Daemon
  readonly devices: DeviceAccess
  readonly signin: SignIn
  readonly workspace: Workspace
  readonly machines: Machines
  readonly door: FrontDoor
  readonly relay: RelayPlace
  /** What holds for all HTTP listeners. */
  readonly http: { readonly bodyLimit: number; readonly otherUsers: boolean }
  readonly env: NodeJS.ProcessEnv
  /** The user's home directory. */
  readonly homedir: string
  /** Corral's data directory. */
  readonly home: string
  /** Where Corral's own socket is. */
  readonly socket: string
  /** The directory that the daemon was started in. */
  readonly cwd: string
  readonly log: DialectLog
  newId(): string
  /** A fault of ours, for the log; clients get its message only. */
  onFault(error: unknown): void
}

/** What a dialect tells its operator. */
export interface DialectLog {
  info(data: object, message: string): void
  warn(data: object, message: string): void
}

/** Corral's own listener. What is served there needs no port and no token of its own. */
export interface FrontDoor {
  /** Answers requests at a path, of whoever shows a token, and of the user's own programs on this machine. */
  route(method: HttpMethod, path: string, handler: HttpHandler): void
  /** Serves WebSockets at a path, to whoever shows a token: the daemon's, or a device's. */
  serve(path: string, access: Pick<TokenAccess, 'code' | 'accept' | 'beforehand'>): void
  /** A code that signs one browser in as this device, or as the owner (null). Null: the door is closed. */
  code(device: Device | null): SignInCode | null
}

export interface SignInCode {
  code: string
  /** Where a browser goes with it: it stands behind a `#`, so that no server and no log gets to see it. */
  url: string
  expiresAt: number
}
