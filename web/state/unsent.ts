import { effect, signal } from '@preact/signals'
import { NativeError } from '../client/client.ts'
import { client } from './connection.ts'
import { toast } from '../parts/toast.tsx'
import type { Draft, OpenSession } from './session.ts'

/** How long somebody must stop typing before it is kept. */
const KEEP_MS = 400

/**
 * What somebody types: the daemon keeps it, so that it is there after a reload and on the other device. What was typed elsewhere
 * appears here, unless somebody types here just now: what they do is newer.
 */
export class Unsent {
  readonly text = signal('')
  readonly #sessionId: string
  #revision: number | null = null
  /** What the daemon has. */
  #kept = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #saving: Promise<void> | null = null
  /** What is on its way to the daemon. */
  #given: string | null = null
  #isTold = false
  readonly #stop: () => void

  constructor(session: OpenSession) {
    this.#sessionId = session.id
    this.#stop = effect(() => {
      const draft = session.draft.value
      if (draft) this.#heard(draft)
    })
    client()
      .call('draft.get', { sessionId: session.id })
      .then(
        (draft) => this.#heard(draft),
        () => {}, // what is typed is kept from the first change on
      )
    addEventListener('pagehide', this.flush)
  }

  close(): void {
    this.#stop()
    removeEventListener('pagehide', this.flush)
    this.flush()
  }

  /** Somebody has typed. */
  type(text: string): void {
    if (text === this.text.peek()) return
    this.text.value = text
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.flush, KEEP_MS)
  }

  /** Keeps it now. */
  readonly flush = (): void => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#saving) return
    this.#saving = this.#save().finally(() => (this.#saving = null))
  }

  /** Something that is too long to be kept can still be sent; whoever leaves would miss it. */
  #failed(error: unknown): void {
    if (this.#isTold || !(error instanceof NativeError) || error.code !== 'invalid') return
    this.#isTold = true
    toast('This is too long to be kept as a draft: send it before you leave the page.', { tone: 'bad' })
  }

  #heard({ text, revision }: Draft): void {
    if (this.#revision !== null && revision <= this.#revision) return
    const now = this.text.peek()
    // What comes back may be our own words, after they were sent or changed here.
    const isTyping = now !== this.#kept || (this.#given !== null && now !== this.#given)
    this.#revision = revision
    this.#kept = text
    if (!isTyping) this.text.value = text
  }

  async #save(): Promise<void> {
    while (this.text.peek() !== this.#kept) {
      const text = this.text.peek()
      const base = this.#revision === null ? {} : { revision: this.#revision }
      this.#given = text
      try {
        const { revision } = await client().call('draft.set', { sessionId: this.#sessionId, text, ...base })
        this.#kept = text
        this.#revision = Math.max(revision, this.#revision ?? 0)
      } catch (error) {
        const current = error instanceof NativeError && error.code === 'conflict' ? draftIn(error.data) : null
        if (!current) return this.#failed(error) // tried again with the next change
        this.#revision = current.revision
        this.#kept = current.text
      } finally {
        this.#given = null
      }
    }
  }
}

function draftIn(data: unknown): Draft | null {
  const { text, revision } = (data ?? {}) as Partial<Draft>
  return typeof text === 'string' && typeof revision === 'number' ? { text, revision } : null
}
