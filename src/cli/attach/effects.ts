import type { NativeClient } from '../../client/client.ts'
import { clean } from '../format.ts'
import { pictureAt, pictureInClipboard } from './picture.ts'
import type { Effect, Input } from './state.ts'
import { keepTyped } from './typed-file.ts'

export interface EffectNeeds {
  client: NativeClient
  sessionId: string
  home: string
  tell(input: Input): void
}

/** What the screen itself does. */
type Own = Extract<Effect, { do: 'leave' | 'suspend' | 'repaint' }>
export type Outside = Exclude<Effect, Own>

/** Does what is to be done outside, and tells what came of it. */
export interface Effects {
  run(effect: Outside): void
  /** Until what was begun in order is done. */
  settled(): Promise<void>
}

export function createEffects(needs: EffectNeeds): Effects {
  let last = Promise.resolve()
  return {
    run(effect) {
      const work = (): Promise<void> =>
        perform(effect, needs).catch((error: unknown) => failed(effect, wordsOf(error), needs))
      // One may depend on what the one before it did; looking at something and stopping wait for nobody.
      if (isOrdered(effect)) last = last.then(work)
      else void work()
    },
    settled: () => last,
  }
}

function isOrdered(effect: Outside): boolean {
  return ['send', 'steer', 'decide', 'configure', 'compact', 'unqueue', 'steer-queued', 'remember'].includes(
    effect.do,
  )
}

export function wordsOf(error: unknown): string {
  return clean(error instanceof Error ? error.message : String(error))
}

function failed(effect: Outside, message: string, { tell }: EffectNeeds): void {
  switch (effect.do) {
    case 'send':
      return tell({ type: 'unsent', key: effect.key, message })
    case 'steer':
      return tell({ type: 'text', text: effect.text, hint: `not sent: ${message}` })
    case 'decide':
      return tell({ type: 'undecided', approvalId: effect.params.approvalId, message })
    case 'image':
      return tell({ type: 'text', text: effect.text, hint: message })
    case 'find':
    case 'context':
    case 'remember':
      return
    default:
      return tell({ type: 'note', text: `! ${message}`, tone: 'bad' })
  }
}

async function perform(effect: Outside, needs: EffectNeeds): Promise<void> {
  const { client, sessionId, tell } = needs
  switch (effect.do) {
    case 'send': {
      const { key, content } = effect
      return void (await client.call('session.send', { sessionId, content, key, origin: 'cli' }))
    }
    case 'steer': {
      const { key, text: content } = effect
      return void (await client.call('session.steer', { sessionId, content, key, origin: 'cli' }))
    }
    case 'interrupt':
      return void (await client.call('session.interrupt', { sessionId, ...effect.at }))
    case 'decide':
      return void (await client.call('approval.decide', effect.params))
    case 'configure':
      return void (await client.call('session.configure', { sessionId, ...effect.change }))
    case 'compact':
      return void (await client.call('session.compact', { sessionId, key: effect.key, origin: 'cli' }))
    case 'unqueue':
      return void (await client.call('queue.remove', { sessionId, turnId: effect.turnId }))
    case 'steer-queued':
      return void (await client.call('queue.steer', { sessionId, turnId: effect.turnId }))
    case 'remember':
      return keepTyped(needs.home, effect.text)
    case 'image':
      return tell({ type: 'image', image: await pictureAt(effect.path) })
    case 'clipboard':
      return clipboard(needs)
    default:
      return look(effect, needs)
  }
}

async function clipboard({ tell }: EffectNeeds): Promise<void> {
  const image = await pictureInClipboard()
  if (image) return tell({ type: 'image', image })
  tell({
    type: 'text',
    text: '',
    hint: 'no picture was found in the clipboard; paste its path, or use /image PATH',
  })
}

/** What only reads. */
async function look(
  effect: Outside & { do: 'find' | 'diff' | 'context' },
  needs: EffectNeeds,
): Promise<void> {
  const { client, sessionId, tell } = needs
  if (effect.do === 'find') {
    const { files } = await client.call('files.find', { sessionId, query: effect.query, limit: 50 })
    return tell({ type: 'found', query: effect.query, files: files.map(({ path }) => path) })
  }
  if (effect.do === 'context') {
    const { approvalId } = effect
    const { effects, subagent } = await client.call('approval.context', { approvalId })
    return tell({ type: 'context', approvalId, rules: effects.session, asker: subagent?.title ?? null })
  }
  const { files, reason, truncated } = await client.call('changes.read', { sessionId, scope: effect.scope })
  if (files.length === 0) return tell({ type: 'note', text: reason ?? 'nothing has changed', tone: 'dim' })
  tell({ type: 'files', title: TITLES[effect.scope], files, truncated })
}

const TITLES = {
  turn: 'Changed by the last turn',
  session: 'Changed since the session began',
  branch: 'Changed since the branch began',
  uncommitted: 'Changed since the last commit',
} as const
