import { homedir } from 'node:os'
import type { Key } from 'node:readline'
import { emitKeypressEvents } from 'node:readline'
import type { Api, NativeClient } from '../client/client.ts'
import { byQuestion } from './answer.ts'
import type { Cli } from './cli.ts'
import { EXIT } from './exit.ts'
import { clean } from './format.ts'
import { briefOf, filesOf, readInbox, titleOf, type InboxItem } from './inbox-items.ts'
import { choicesOf, drawInbox, type InboxState } from './inbox-view.ts'
import { questionsOf } from './render.ts'

/** After another item has come up, keys that answer wait this long: nobody is to allow what they have not seen. */
const LOOK_MS = 600
const AGE_MS = 10_000
const LATER_MS = 60 * 60 * 1000
const PAGE_LINES = 10

const EVENTS = [
  'approval.requested',
  'approval.resolved',
  'approval.deferred',
  'session.status',
  'session.marked',
  'session.changed',
  'session.destroyed',
] as const

type Decide = Api['approval.decide']['params']

/** The inbox in a terminal, until the person leaves. */
export async function inboxScreen(cli: Cli, client: NativeClient): Promise<number> {
  for (;;) {
    const opened = await new InboxScreen(cli, client).run()
    if (opened === null) return EXIT.ok
    const { attach } = await import('./commands/talk.ts')
    await attach(cli, [opened])
  }
}

class InboxScreen {
  readonly #cli: Cli
  readonly #client: NativeClient
  readonly #left = Promise.withResolvers<string | null>()
  #state: InboxState = { items: [], current: null, files: null, scrolled: 0, armed: false, said: '' }
  #arming: NodeJS.Timeout | undefined
  #isReading = false
  #again = false
  readonly #draw = (): void => this.#show()
  readonly #key = (_: string, key: Key): void => this.#pressed(key)
  readonly #leave = (): void => this.#left.resolve(null)

  constructor(cli: Cli, client: NativeClient) {
    this.#cli = cli
    this.#client = client
  }

  /** The session that the person wants to open; null: they leave. */
  async run(): Promise<string | null> {
    const { stdin, stdout } = this.#cli
    const stream = this.#client.events({
      types: [...EVENTS],
      onReset: () => (this.#refresh(), 'now'),
      onLink: (state) => this.#linked(state),
    })
    const ages = setInterval(this.#draw, AGE_MS)
    emitKeypressEvents(stdin)
    stdin.setRawMode(true).on('keypress', this.#key).resume()
    stdout.write('\u001b[?1049h\u001b[?25l')
    stdout.on('resize', this.#draw)
    process.on('SIGTERM', this.#leave)
    try {
      await stream.ready
      this.#refresh()
      void this.#follow(stream)
      return await this.#left.promise
    } finally {
      process.off('SIGTERM', this.#leave)
      stdout.off('resize', this.#draw)
      stdout.write('\u001b[?25h\u001b[?1049l')
      stdin.off('keypress', this.#key).setRawMode(false).pause()
      clearInterval(ages)
      clearTimeout(this.#arming)
      stream.close()
    }
  }

  async #follow(stream: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const _ of stream) this.#refresh()
    } catch (error) {
      this.#left.reject(error)
    }
  }

  #linked(state: 'away' | 'back'): void {
    this.#say(state === 'away' ? 'the daemon is not reachable; waiting for it' : 'the daemon is back')
    if (state === 'back') this.#refresh()
  }

  /** Reads all of it again; what happens meanwhile makes it read once more. */
  #refresh(): void {
    this.#again = true
    if (!this.#isReading) void this.#read()
  }

  async #read(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#again) {
        this.#again = false
        this.#arrange(await readInbox(this.#client, Date.now()))
      }
    } catch (error) {
      this.#say(wordsOf(error))
    } finally {
      this.#isReading = false
    }
  }

  /** Who looks at an item keeps it, wherever it stands now. */
  #arrange(items: InboxItem[]): void {
    const isThere = items.some(({ id }) => id === this.#state.current)
    const at = this.#state.items.findIndex(({ id }) => id === this.#state.current)
    this.#state = { ...this.#state, items }
    if (isThere) this.#show()
    else this.#turnTo(items[Math.min(Math.max(at, 0), items.length - 1)], LOOK_MS)
  }

  #turnTo(item: InboxItem | undefined, afterMs: number): void {
    clearTimeout(this.#arming)
    this.#state = { ...this.#state, current: item?.id ?? null, files: null, scrolled: 0, armed: false }
    if (item) void this.#arm(item, afterMs)
    this.#show()
  }

  /** A diff is seen before it is allowed. */
  async #arm(item: InboxItem, afterMs: number): Promise<void> {
    const files = await filesOf(this.#client, item)
    if (this.#state.current !== item.id) return
    this.#state = { ...this.#state, files }
    this.#arming = setTimeout(() => {
      this.#state = { ...this.#state, armed: true }
      this.#show()
    }, afterMs)
    this.#show()
  }

  #say(text: string): void {
    this.#state = { ...this.#state, said: text }
    this.#show()
  }

  #show(): void {
    const { stdout, paint } = this.#cli
    // Some terminals do not say how large they are.
    const [columns, rows] = [stdout.columns || 80, stdout.rows || 24]
    const lines = drawInbox(this.#state, { columns, rows, now: Date.now(), home: homedir() }, paint)
    stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\r\n')}\u001b[J`)
  }

  get #item(): InboxItem | undefined {
    return this.#state.items.find(({ id }) => id === this.#state.current)
  }

  #pressed({ name = '', ctrl = false, sequence = '' }: Key): void {
    if (name === 'q' || (ctrl && (name === 'c' || name === 'd'))) return this.#leave()
    const item = this.#item
    if (!item) return
    if (name === 'o' || name === 'return') return this.#left.resolve(item.session.id)
    if (name === 'j' || name === 'down' || name === 'k' || name === 'up')
      return this.#move(name === 'j' || name === 'down' ? 1 : -1)
    if (name === 'space' || name === 'pagedown') return this.#scroll(PAGE_LINES)
    if (name === 'b' || name === 'pageup') return this.#scroll(-PAGE_LINES)
    const work = this.#state.armed || name === 's' ? this.#answerTo(item, sequence) : null
    if (work) void work.catch((error: unknown) => this.#say(wordsOf(error)))
  }

  #move(by: number): void {
    const { items, current } = this.#state
    const at = items.findIndex(({ id }) => id === current)
    const next = items[at + by]
    if (next) this.#turnTo(next, 0)
  }

  #scroll(by: number): void {
    this.#state = { ...this.#state, scrolled: Math.max(0, this.#state.scrolled + by) }
    this.#show()
  }

  /** What a key does to the item; null: nothing. */
  #answerTo(item: InboxItem, key: string): Promise<void> | null {
    const { session } = item
    if (key === 's') return this.#done(item, 'put off for an hour', () => this.#putOff(item))
    if (item.kind === 'failed') {
      const read = { sessionId: session.id, readSeq: Number.MAX_SAFE_INTEGER }
      return key === 'd' ? this.#done(item, 'done', () => this.#client.call('session.mark', read)) : null
    }
    const decision = decisionFor(item, key)
    if (!decision) return null
    const said = decision.behavior === 'allow' ? 'allowed' : 'refused'
    return this.#done(item, said, () => this.#client.call('approval.decide', decision))
  }

  #putOff(item: InboxItem): Promise<unknown> {
    const until = Date.now() + LATER_MS
    return item.kind === 'approval'
      ? this.#client.call('approval.defer', { approvalId: item.id, until })
      : this.#client.call('session.mark', { sessionId: item.session.id, snoozedUntil: until })
  }

  async #done(item: InboxItem, said: string, work: () => Promise<unknown>): Promise<void> {
    this.#state = { ...this.#state, armed: false }
    await work()
    this.#say(`${said}: ${titleOf(item)}, ${briefOf(item)}`)
    this.#refresh()
  }
}

function decisionFor({ approval }: InboxItem & { kind: 'approval' }, key: string): Decide | null {
  const { id: approvalId, kind, input } = approval
  if (key === 'n') return { approvalId, behavior: 'deny', by: 'cli' }
  if (kind === 'question') {
    const isChoice = /^[1-9]$/.test(key) && Number(key) <= choicesOf(input)
    if (!isChoice) return null
    return { approvalId, behavior: 'allow', answers: byQuestion(questionsOf(input), [key]), by: 'cli' }
  }
  if (key === 'y') return { approvalId, behavior: 'allow', by: 'cli' }
  return key === 'a' ? { approvalId, behavior: 'allow', forSession: true, by: 'cli' } : null
}

function wordsOf(error: unknown): string {
  return `! ${clean(error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ')}`
}
