import type { Choices } from './choices.ts'
import type { Output } from './output.ts'
import type { Corral, Memory, SignIn } from './ports.ts'
import type { Rooms } from './rooms.ts'

/** What methods have at hand. */
export interface Context {
  corral: Corral
  signIn: SignIn
  memory: Memory
  output: Output
  rooms: Rooms
  choices: Choices
  /** Where the client has started this process, and whose it is. */
  cwd: string
  home: string
  newId(): string
  now(): number
  debug: { on: boolean }
  /** Requests that wait for a human. */
  waits: { signIns: number }
  /** Nothing more is taken from now on. */
  refuseNew(): void
  /** Ends the process in order, when the answer is out. */
  end(): void
}

/** A result, and what goes on once it has been written. */
export class Followed {
  readonly result: unknown
  readonly next: () => void

  constructor(result: unknown, next: () => void) {
    this.result = result
    this.next = next
  }
}

/** Answers, or throws. */
export type Method = (params: unknown, context: Context) => unknown

export type Methods = Readonly<Record<string, Method>>
