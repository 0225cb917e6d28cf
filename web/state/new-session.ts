import { signal } from '@preact/signals'
import type { Effort } from '../../src/core/effort.ts'
import { isMode, type Mode } from '../../src/core/mode.ts'
import { client } from './connection.ts'
import { freshKey } from './fresh-key.ts'
import { remembered } from './remembered.ts'

const isText = (value: unknown): value is string => typeof value === 'string' && value.length < 5000

/** A picture that goes with the message. */
export interface Picture {
  name: string
  mediaType: string
  /** Base64. */
  data: string
}

/** What the next session is to be: kept while the dialog is closed, and the choices for the next visit. */
export const newSession = {
  agent: remembered('new.agent', '', isText),
  cwd: remembered('new.cwd', '', isText),
  mode: remembered<Mode>('new.mode', 'ask', isMode),
  worktree: signal(false),
  carry: signal(false),
  model: signal<string | null>(null),
  effort: signal<Effort | null>(null),
  text: signal(''),
  pictures: signal<readonly Picture[]>([]),
}

export interface Place {
  path: string
  inRepository: boolean
}

/** Makes the session and sends its first message, if there is one. Returns its id; throws what went wrong. */
export async function startSession(place: Place): Promise<string> {
  const { agent, mode, worktree, carry, model, effort, text, pictures } = newSession
  const isApart = worktree.value && place.inRepository
  const session = await client().call('session.create', {
    agent: agent.value,
    cwd: place.path,
    mode: mode.value,
    worktree: isApart,
    carry: isApart && carry.value,
    ...(model.value !== null && { model: model.value }),
    ...(effort.value !== null && { effort: effort.value }),
    origin: 'dashboard',
    key: freshKey(),
  })
  const said = text.value.trim()
  if (said !== '' || pictures.value.length > 0) {
    await client().call('session.send', {
      sessionId: session.id,
      content: [
        ...(said === '' ? [] : [{ type: 'text' as const, text: said }]),
        ...pictures.value.map(({ mediaType, data }) => ({ type: 'image' as const, mediaType, data })),
      ],
      origin: 'dashboard',
      key: freshKey(),
    })
  }
  text.value = ''
  pictures.value = []
  return session.id
}

const MAX_PICTURES = 10
const MAX_BYTES = 5 * 1024 * 1024
const KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Adds what are pictures. Returns what is wrong with the others; null: nothing. */
export async function addPictures(files: readonly File[]): Promise<string | null> {
  const fitting = files.filter(({ type, size }) => KINDS.includes(type) && size <= MAX_BYTES)
  const room = MAX_PICTURES - newSession.pictures.value.length
  const read = await Promise.all(fitting.slice(0, room).map(readPicture))
  newSession.pictures.value = [...newSession.pictures.value, ...read]
  if (fitting.length < files.length)
    return 'Only PNG, JPEG, GIF and WebP pictures of at most 5 MB can be sent.'
  return fitting.length > room ? `At most ${MAX_PICTURES} pictures can be sent at once.` : null
}

function readPicture(file: File): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read`)))
    reader.addEventListener('load', () => {
      const url = String(reader.result)
      resolve({ name: file.name, mediaType: file.type, data: url.slice(url.indexOf(',') + 1) })
    })
    reader.readAsDataURL(file)
  })
}
