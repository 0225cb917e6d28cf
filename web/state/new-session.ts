import { computed, signal } from '@preact/signals'
import type { Effort } from '../../src/core/effort.ts'
import { isMode, type Mode } from '../../src/core/mode.ts'
import type { Api } from '../client/client.ts'
import { attachmentOf, contentOf, obstacleTo, type Attachment } from './attachments.ts'
import { client } from './connection.ts'
import { freshKey } from './fresh-key.ts'
import { remembered } from './remembered.ts'

const isText = (value: unknown): value is string => typeof value === 'string' && value.length < 5000

/** What the next session is to be: kept while the dialog is closed, and the choices for the next visit. */
export const newSession = {
  /** Empty: nobody has chosen one here. */
  agent: remembered('new.agent.chosen', '', isText),
  cwd: remembered('new.cwd', '', isText),
  /** Null: nobody has chosen one here. */
  mode: remembered<Mode | null>('new.mode.chosen', null, isMode),
  worktree: signal(false),
  carry: signal(false),
  model: signal<string | null>(null),
  effort: signal<Effort | null>(null),
  text: signal(''),
  pictures: signal<readonly Attachment[]>([]),
}

type Defaults = Api['session.defaults']['result']

/** What the daemon begins with where nobody has chosen; null: it was not asked yet. */
const defaults = signal<Defaults | null>(null)

/** Asks again each time: somebody may have changed the settings, or installed an agent. */
export async function askForDefaults(): Promise<void> {
  defaults.value = await client().call('session.defaults')
}

export const modeOfNew = computed<Mode>(() => newSession.mode.value ?? defaults.value?.mode ?? 'ask')

/** The one that was chosen here, if it is still there, otherwise the daemon's. Empty: not known yet. */
export function agentOfNew(agents: readonly { name: string; installed: boolean }[] | null): string {
  const isThere = (wanted: string | undefined): boolean =>
    agents?.some(({ name, installed }) => installed && name === wanted) ?? false
  const fitting = [newSession.agent.value, defaults.value?.agent].find(isThere)
  return fitting ?? ''
}

export interface Place {
  path: string
  inRepository: boolean
}

/** Makes the session and sends its first message, if there is one. Returns its id; throws what went wrong. */
export async function startSession(place: Place, agent: string): Promise<string> {
  const { worktree, carry, model, effort, text, pictures } = newSession
  const isApart = worktree.value && place.inRepository
  const session = await client().call('session.create', {
    agent,
    cwd: place.path,
    mode: modeOfNew.value,
    worktree: isApart,
    carry: isApart && carry.value,
    ...(isApart && { about: text.value.slice(0, 500) }),
    ...(model.value !== null && { model: model.value }),
    ...(effort.value !== null && { effort: effort.value }),
    origin: 'dashboard',
    key: freshKey(),
  })
  const { value: typed } = text
  const { value: chosen } = pictures
  if (typed.trim() !== '' || chosen.length > 0) {
    await client().call('session.send', {
      sessionId: session.id,
      content: contentOf(typed.trim(), chosen),
      origin: 'dashboard',
      key: freshKey(),
    })
  }
  // What came meanwhile is for the next one.
  text.value = text.value.startsWith(typed) ? text.value.slice(typed.length) : text.value
  pictures.value = pictures.value.filter((one) => !chosen.includes(one))
  return session.id
}

/** Adds what are pictures. Returns what is wrong with one that is not added; null: nothing. */
export async function addPictures(files: readonly File[]): Promise<string | null> {
  const { pictures } = newSession
  for (const file of files) {
    const added = await attachmentOf(file)
    const obstacle = obstacleTo(added, pictures.value)
    if (obstacle !== null) return obstacle
    pictures.value = [...pictures.value, added]
  }
  return null
}
