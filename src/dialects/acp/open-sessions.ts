import { methods, type AgentContext, type RequestPermissionRequest } from '@agentclientprotocol/sdk/unstable'
import { closedMeanwhile } from './errors.ts'
import { openSession, type Editor, type OpenSession } from './open-session.ts'
import { openingOf } from './options.ts'
import type { Corral, SessionView } from './port.ts'
import { Prompts } from './prompts.ts'
import { TYPES } from './updates.ts'

/** The sessions that the editor has open. */
export class OpenSessions {
  /** The editor shows remarks that are no part of a conversation. */
  notices = false
  readonly #corral: Corral
  readonly #newKey: () => string
  readonly #open = new Map<string, OpenSession>()
  /** How often each was left: what began to open it before is not to go on. */
  readonly #left = new Map<string, number>()

  constructor(corral: Corral, newKey: () => string) {
    this.#corral = corral
    this.#newKey = newKey
  }

  /** Opens a session, again if need be; what its past is worth to the editor: to hear it, to skip it, or it has none. */
  async open(client: AgentContext, session: SessionView, past: 'tell' | 'skip' | 'none') {
    const corral = this.#corral
    const { id } = session
    const left = this.#left.get(id)
    const models = await corral.models(session.agent)
    const until = past === 'none' ? 0 : await corral.lastSeq(id, TYPES)
    if (this.#left.get(id) !== left) throw closedMeanwhile()
    const before = this.#open.get(id)
    const prompts = before?.prompts ?? new Prompts({ corral, sessionId: id, newKey: this.#newKey })
    const editor = this.#editorOf(client, id)
    const opened = openSession({ corral, editor, session, models, until, tellPast: past === 'tell', prompts })
    this.#open.set(id, opened)
    before?.close()
    void opened.over.then(() => this.#open.get(id) === opened && this.#open.delete(id))
    const ready = await this.#whenReady(id, opened)
    return { session: ready, opening: openingOf(ready.chosen, models) }
  }

  /** It, or what has taken its place: the editor may ask for the same twice at a time. */
  async #whenReady(id: string, opened: OpenSession): Promise<OpenSession> {
    try {
      await opened.ready
      return opened
    } catch (error) {
      const newer = this.#open.get(id)
      if (newer && newer !== opened) return this.#whenReady(id, newer)
      throw error
    }
  }

  /** One that is open, or is opened now. */
  async find(client: AgentContext, sessionId: string): Promise<OpenSession> {
    const known = this.#open.get(sessionId)
    return known ?? (await this.open(client, await this.#corral.session(sessionId), 'skip')).session
  }

  /** Stops what the user sees running. */
  async cancel(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId)
    await (session ? session.cancel() : this.#corral.interrupt(sessionId))
  }

  /** What was begun here ends, what others have begun goes on. */
  async leave(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId)
    this.#open.delete(sessionId)
    this.#left.set(sessionId, (this.#left.get(sessionId) ?? 0) + 1)
    await session?.prompts.cancelAll()
    session?.close()
    session?.prompts.leave()
  }

  #editorOf(client: AgentContext, sessionId: string): Editor {
    return {
      notices: this.notices,
      update: (update) => client.notify(methods.client.session.update, { sessionId, update }),
      async ask(request, cancellationSignal) {
        const options = { cancellationSignal, stopWaitingOnCancel: true }
        const params: RequestPermissionRequest = { sessionId, ...request }
        return (await client.request(methods.client.session.requestPermission, params, options)).outcome
      },
    }
  }
}
