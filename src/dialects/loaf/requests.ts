import { createCaller, type Caller } from '../../transports/jsonrpc.ts'
import { verifying } from '../method.ts'
import { ALWAYS, asLoafError, failure, invalidParams, methodNotFound, nameOf } from './errors.ts'
import { answerLine, errorLine, readLine } from './framing.ts'
import type { Context, LoafMethod } from './method.ts'
import { METHODS } from './methods.ts'

/** So many requests may be under way; the next ones wait in the pipe. */
const MAX_UNDER_WAY = 200

/** The client's requests: each is answered when it is done, in whichever order. */
export class Requests {
  /** Whatever comes from now on is refused. */
  refusing = false
  readonly #context: Context
  readonly #underWay = new Set<Promise<void>>()
  readonly #call: Caller<Context>

  constructor(context: Context, methods: readonly LoafMethod[] = METHODS) {
    this.#context = context
    this.#call = createCaller<Context, LoafMethod>({
      methods,
      methodNotFound,
      invalidParams,
      mapError(thrown) {
        const { code, message, data } = asLoafError(thrown)
        return { code, message, data }
      },
      ...verifying(nameOf, ALWAYS),
    })
  }

  get tooMany(): boolean {
    return this.#underWay.size >= MAX_UNDER_WAY
  }

  take(line: Buffer): void {
    const { output } = this.#context
    let request: ReturnType<typeof readLine>
    try {
      request = readLine(line)
    } catch (error) {
      return output.line(errorLine(null, asLoafError(error)))
    }
    if (!request) return
    const { id, method, params } = request
    if (this.refusing) {
      return output.line(errorLine(id, failure('the server is shutting down', 'shutting_down')))
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#underWay.add(promise)
    // No parameters are the same as an empty list of them.
    this.#call(method, params ?? [], this.#context, (member) => {
      output.line(answerLine(id, member))
      this.#underWay.delete(promise)
      resolve()
    })
  }

  /** Resolves when another one may come. */
  async fewer(): Promise<void> {
    while (this.tooMany) await Promise.race(this.#underWay)
  }

  /** Resolves when all that is under way has been answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#underWay)
  }
}
